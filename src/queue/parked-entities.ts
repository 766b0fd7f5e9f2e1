import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import { mayHelpOutside, outsiders } from '../framework/event-hints.ts';
import type { EventHints } from '../framework/event-hints.ts';
import type { QueueKey } from '../framework/candidate.ts';
import { Line } from './line.ts';
import type { QueuedEntity, UnschedulableState } from './queued-entity.ts';

export interface ParkedEntitiesOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly compare: (a: QueueKey, b: QueueKey) => number;
}

/** What is to be known of a refusal beside its entity. */
interface Refusal {
  readonly question?: string | undefined;
  readonly isOutdated?: boolean;
}

/** Pods that are alike to a plugin that refused them, by one of them. */
interface Kind {
  readonly pod: Pod;
  readonly lines: Set<Line>;
}

/** Where a line is filed. */
interface Place {
  readonly kinds: Map<string | Line, Kind[]>;
  readonly key: string | Line;
  readonly kind: Kind;
}

/** The lines of one profile that wait for an event. */
class Index {
  /**
   * plugin that refused -> what makes pods alike to it -> the kind; several where what it signs of a pod has changed meanwhile. Pods that
   * it says nothing of are kinds of their own.
   */
  readonly byPlugin = new Map<string, Map<string | Line, Kind[]>>();
  /** line -> the kinds that it is filed under. What a plugin makes of its pods may be something else by now. */
  readonly places = new Map<Line, readonly Place[]>();
  /** Those that any event may help. */
  readonly open = new Set<Line>();
  /** Those of gangs, where some plugin wants all of them to be asked. */
  readonly gangs = new Set<Line>();
}

/**
 * Entities that were refused and wait for an event, in lines of those that ask for the same. They are filed by what refused them,
 * so that an event is asked about once for each kind of pod that it may help, however many wait.
 */
export class ParkedEntities {
  readonly #options: ParkedEntitiesOptions;
  /** question -> the line of those that ask it */
  readonly #shared = new Map<string, Line>();
  readonly #lines = new Set<Line>();
  /** entity -> the line in which it waits, or for which it has gone to be tried */
  readonly #lineOf = new Map<QueuedEntity, Line>();
  /** hints of a profile -> its lines at rest */
  readonly #indexes = new Map<EventHints, Index>();
  #size = 0;

  constructor(options: ParkedEntitiesOptions) {
    this.#options = options;
  }

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  lines(): Iterable<Line> {
    return this.#lines;
  }

  /** Whether there are lines that others may join. */
  get hasShared(): boolean {
    return this.#shared.size > 0;
  }

  /** The line in which the entity waits, or for which it has gone to be tried. */
  lineOf(entity: QueuedEntity): Line | undefined {
    return this.#lineOf.get(entity);
  }

  /** The line of those that were refused for asking this. */
  asking(question: string): Line | undefined {
    return this.#shared.get(question);
  }

  /**
   * The entity waits from now on; with those that ask the same question, if there is one. What it was refused for stands for all of
   * the line.
   */
  add(entity: QueuedEntity, { question, isOutdated = false }: Refusal, hints: EventHints): Line {
    const line = this.#lineFor(entity, question, hints);
    const { clock } = this.#options;
    const state: UnschedulableState = { kind: 'unschedulable', since: clock.monotonic() };
    entity.state = state;
    this.#lineOf.set(entity, line);
    line.add(entity, state);
    this.#size++;
    if (line.first === entity) line.first = undefined;
    else if (line.size > 1 && line.refusedBy === entity.refusedBy) return line;
    this.#unfile(line);
    if (!isOutdated) line.since = state.since;
    line.refusedBy = entity.refusedBy;
    line.pending = entity.pending;
    line.isUrgent = false;
    line.refusedPods = entity.refusedPods;
    line.wish = entity.wish;
    line.isOutdated = isOutdated;
    if (line.isAtRest) this.#file(line);
    return line;
  }

  /** One that waits with this state is about to get another. */
  leave(entity: QueuedEntity, state: UnschedulableState): void {
    this.#size--;
    const line = this.#lineOf.get(entity)!;
    this.#lineOf.delete(entity);
    line.leave(state);
    this.#dropIfEmpty(line);
  }

  /** The one of the line that goes next, which stays the line's first; undefined when nobody waits. */
  take(line: Line): QueuedEntity | undefined {
    this.#unfile(line);
    line.isCalled = false;
    const entity = line.take();
    line.first = entity;
    if (entity === undefined) this.#dropIfEmpty(line);
    else this.#size--;
    return entity;
  }

  /** An event may have helped the line, whose turn comes later. */
  call(line: Line): void {
    line.isCalled = true;
    this.#unfile(line);
  }

  /** The first of the line goes some other way than back into it. Whether others wait. */
  release(line: Line): boolean {
    if (line.first !== undefined && this.#lineOf.get(line.first) === line) this.#lineOf.delete(line.first);
    line.first = undefined;
    this.#dropIfEmpty(line);
    return line.size > 0;
  }

  /** The lines at rest that the event may help: those for which no plugin is certain that they would be refused again. */
  helpedBy(event: ClusterEvent): ReadonlySet<Line> {
    const helped = this.#concernedBy(event);
    for (const line of helped) {
      if (!line.hints.rulesOut(line)) continue;
      helped.delete(line);
      line.isUrgent = false;
      line.isOutdated = true;
    }
    return helped;
  }

  #concernedBy(event: ClusterEvent): Set<Line> {
    const helped = new Set<Line>();
    for (const [hints, { byPlugin, open, gangs }] of this.#indexes) {
      for (const line of open) if (!line.refusedBy.has(outsiders) || mayHelpOutside(event)) helped.add(line);
      for (const registered of hints.registered(event)) {
        for (const kinds of byPlugin.get(registered.plugin)?.values() ?? []) {
          for (const { pod, lines } of kinds) {
            if (!hints.helps(registered, pod, event)) continue;
            for (const line of lines) {
              helped.add(line);
              line.isUrgent ||= line.pending.has(registered.plugin);
            }
          }
        }
        if (!registered.concernsGangs) continue;
        for (const line of gangs) {
          if (line.refusedPods.some((pod) => hints.helps(registered, pod, event))) helped.add(line);
        }
      }
    }
    return helped;
  }

  #lineFor(entity: QueuedEntity, question: string | undefined, hints: EventHints): Line {
    const known = question === undefined ? undefined : this.#shared.get(question);
    if (known !== undefined) return known;
    const line = new Line(entity, question, hints, this.#options.compare);
    this.#lines.add(line);
    if (question !== undefined) this.#shared.set(question, line);
    return line;
  }

  #file(line: Line): void {
    const index = this.#indexOf(line.hints);
    if (line.refusedBy.size === 0 || line.refusedBy.has(outsiders)) {
      index.open.add(line);
      return;
    }
    if (line.isGang && line.hints.concernsGangs) index.gangs.add(line);
    const places: Place[] = [];
    for (const plugin of line.refusedBy) {
      let kinds = index.byPlugin.get(plugin);
      if (kinds === undefined) {
        kinds = new Map();
        index.byPlugin.set(plugin, kinds);
      }
      for (const pod of line.refusedPods) {
        const text = line.hints.kindOf(plugin, pod);
        const key = text ?? line;
        const known = kinds.get(key) ?? [];
        if (known.length === 0) kinds.set(key, known);
        // Those who were like it once may not be now, when others say something of other labels.
        let kind = text === undefined ? undefined : known.find((of) => line.hints.kindOf(plugin, of.pod) === text);
        if (kind === undefined) known.push((kind = { pod, lines: new Set() }));
        kind.lines.add(line);
        places.push({ kinds, key, kind });
      }
    }
    index.places.set(line, places);
  }

  #unfile(line: Line): void {
    const index = this.#indexOf(line.hints);
    index.open.delete(line);
    index.gangs.delete(line);
    for (const { kinds, key, kind } of index.places.get(line) ?? []) {
      kind.lines.delete(line);
      const known = kinds.get(key);
      if (kind.lines.size > 0 || known === undefined) continue;
      const place = known.indexOf(kind);
      if (place >= 0) known.splice(place, 1);
      if (known.length === 0) kinds.delete(key);
    }
    index.places.delete(line);
  }

  #indexOf(hints: EventHints): Index {
    let index = this.#indexes.get(hints);
    if (index === undefined) {
      index = new Index();
      this.#indexes.set(hints, index);
    }
    return index;
  }

  #dropIfEmpty(line: Line): void {
    if (line.size > 0 || line.first !== undefined) return;
    this.#unfile(line);
    this.#lines.delete(line);
    if (line.question !== undefined && this.#shared.get(line.question) === line) this.#shared.delete(line.question);
  }
}
