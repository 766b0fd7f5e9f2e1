import type { TimelineEntity } from '../../src/api/timeline/timeline-entity.ts';
import type {
  GapReason,
  TimelineDelta,
  TimelineGap,
  TimelineSnapshot,
} from '../../src/api/timeline/timeline-message.ts';
import type { TimelineNode } from '../../src/api/timeline/timeline-node.ts';
import type { TimelineState } from '../../src/api/timeline/timeline-state.ts';
import type { TransitionKind } from '../../src/api/timeline/transition-kind.ts';
import type { MemberCounts, Transition } from '../../src/api/timeline/transition.ts';

interface Happened extends Partial<Omit<Transition, 'counts'>> {
  readonly bound?: number;
  readonly planned?: number;
}

export interface TimelineStoryOptions {
  readonly epoch?: string;
  readonly capacity?: number;
}

/** Builds the timeline that a scheduler would send, step by step. */
export class TimelineStory {
  readonly epoch: string;
  /** How many transitions the scheduler holds, and the page with it. */
  readonly capacity: number;
  /** The scheduler's time. */
  now: number;
  readonly heldSince: number;
  #sequence = 0;
  /** The sequence number of the last message. */
  #sent = 0;
  /** key -> entity */
  readonly #entities = new Map<string, TimelineEntity>();
  /** name -> node */
  readonly #nodes = new Map<string, TimelineNode>();
  readonly #transitions: Transition[] = [];
  readonly #changed = new Set<string>();
  readonly #changedNodes = new Set<string>();

  constructor(startMs: number, { epoch = 'e1', capacity = 20_000 }: TimelineStoryOptions = {}) {
    this.now = startMs;
    this.heldSince = startMs;
    this.epoch = epoch;
    this.capacity = capacity;
  }

  get transitions(): readonly Transition[] {
    return this.#transitions;
  }

  pass(seconds: number): this {
    this.now += seconds * 1000;
    return this;
  }

  /** Adds a group without members and returns its key. */
  group(name: string, minMember: number, namespace = 'ml'): string {
    const key = `gang/${namespace}/${name}`;
    const subject = { kind: 'PodGroup', source: 'scheduling.x-k8s.io', namespace, name } as const;
    const counts = { members: minMember, planned: 0, bound: 0, minMember, started: false };
    this.#entities.set(key, { key, subject, state: 'NotReady', counts, createdAt: this.now });
    this.tell(key, 'Added', 'NotReady', { waitsFor: 'members' });
    return key;
  }

  /** Something happens to an entity, which is in `state` from now on. */
  tell(key: string, kind: TransitionKind, state: TimelineState, { bound, planned, ...more }: Happened = {}): this {
    const { counts: before, waitsFor: _waits, reason: _reason, ...entity } = this.#entities.get(key)!;
    const counts: MemberCounts = {
      ...before!,
      bound: bound ?? before!.bound,
      planned: planned ?? 0,
      started: before!.started || state === 'Running',
    };
    const transition = { sequence: ++this.#sequence, time: this.now, kind, entity: key, state, counts, ...more };
    this.#transitions.push(transition);
    const { waitsFor, reason } = more;
    this.#entities.set(key, {
      ...entity,
      ...{ state, counts },
      ...(waitsFor !== undefined && { waitsFor }),
      ...(reason !== undefined && { reason }),
    });
    this.#changed.add(key);
    return this;
  }

  /** The last transition of the entity has happened again. */
  again(key: string, count: number): this {
    const index = this.#transitions.findLastIndex(({ entity }) => entity === key);
    this.#transitions[index] = { ...this.#transitions[index]!, count, until: this.now };
    this.#sequence++;
    this.#changed.add(key);
    return this;
  }

  node(node: TimelineNode): this {
    this.#nodes.set(node.name, node);
    this.#changedNodes.add(node.name);
    this.#sequence++;
    return this;
  }

  snapshot(): TimelineSnapshot {
    this.#take();
    const { epoch, now, heldSince } = this;
    const [entities, nodes, transitions] = [[...this.#entities.values()], [...this.#nodes.values()], this.#transitions];
    const whole = {
      isLeading: true,
      heldSince,
      capacity: this.capacity,
      entities,
      nodes,
      transitions: transitions.slice(-this.capacity),
    };
    return { kind: 'snapshot', epoch, now, sequence: this.#sequence, ...whole };
  }

  /** Returns what has changed since the last message. */
  delta(): TimelineDelta {
    const from = this.#sent;
    const { changed, changedNodes } = this.#take();
    const { epoch, now } = this;
    return {
      ...{ kind: 'delta', epoch, now, from, sequence: this.#sequence, removedNodes: [] },
      entities: [...changed].map((key) => this.#entities.get(key)!),
      nodes: changedNodes.map((name) => this.#nodes.get(name)!),
      transitions: this.#transitions
        .slice(-2_000)
        .filter(({ entity, sequence }) => changed.has(entity) && sequence > from - 50),
    };
  }

  gap(reason: GapReason): TimelineGap {
    return { kind: 'gap', epoch: this.epoch, now: this.now, reason };
  }

  #take(): { readonly changed: ReadonlySet<string>; readonly changedNodes: readonly string[] } {
    const taken = { changed: new Set(this.#changed), changedNodes: [...this.#changedNodes] };
    this.#changed.clear();
    this.#changedNodes.clear();
    this.#sent = this.#sequence;
    return taken;
  }
}
