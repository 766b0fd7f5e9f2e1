import { podKeyIn } from '../world/call.ts';
import type { Call } from '../world/call.ts';
import type { Obstacles } from './capacity-of-others.ts';
import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import { PlainCapacity } from './plain-fit.ts';
import {
  claimsIn,
  closed,
  groupNamed,
  nameSeveralSchedulers,
  podsIn,
  takenCapacity,
  tallyOf,
  usableNodes,
  whyHeldBack,
} from './plain-group.ts';
import { barredFor, barredNodes, pastOf, reservedCapacity, respectedBy } from './plain-losses.ts';
import { hasEnded, isGroupResource, isOpen, plainGroup, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';

/** Longer than the longest back-off: an entity that has waited that long is tried in its turn. */
const rankedMs = 12_000;
/** The same for an entity that was rejected once. */
const rankedOnceMs = 3_000;
/** Longer than an attempt and the way of an event to the scheduler. */
const attemptMs = 1_000;
/** Maximum time that a pod takes to terminate. */
const terminatesMs = 3_000;

/**
 * I10, when the first Binding of a plan is sent: it takes capacity from no entity of a higher priority that fits by the versions that had
 * reached the sender. Checked only where the order is certain. Before the latest release of capacity, nothing has changed for longer than
 * the entity's back-off, and no fault struck in that time. No capacity may be reserved that the entity must respect.
 */
export class PriorityChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #schedulerNames: readonly string[];
  readonly #obstacles: Obstacles;
  /** Plans, and pods without one, of which a Binding was sent. */
  readonly #begun = new Set<string>();
  /** Times at which something changed that scheduling reads, other than by a scheduler. */
  readonly #changes: number[] = [];
  /** uid of a pod -> its latest Binding */
  readonly #bindings = new Map<string, { readonly at: number; readonly node: string }>();
  /** namespace/name of a pod -> when its latest verdict was sent */
  readonly #judgedAt = new Map<string, number>();
  /** All that may cause an attempt; `added`: uid of the pod or name of the group to which a new object belongs. */
  readonly #events: { readonly at: number; readonly added: string | undefined }[] = [];

  /** `obstacles`: an entity that only they keep from a node has an error back-off, so its rank does not count. */
  constructor(evidence: Evidence, schedulerNames: readonly string[], obstacles: Obstacles = {}) {
    this.#obstacles = obstacles;
    this.#evidence = evidence;
    this.#schedulerNames = schedulerNames;
  }

  committed({ resource, type, by, object, previous }: Committed): void {
    if (resource !== 'pods' && resource !== 'nodes' && !isGroupResource(resource)) return;
    const isRead = type !== 'MODIFIED' || readPart(resource, object) !== readPart(resource, previous);
    if (!isRead) return;
    const at = this.#evidence.now();
    if (by === 'world') this.#changes.push(at);
    const isGroup = resource !== 'pods' && resource !== 'nodes';
    const entity = isGroup ? plainGroup(object).name : resource === 'pods' ? entityOf(plainPod(object)) : undefined;
    this.#events.push({ at, added: type === 'ADDED' ? entity : undefined });
  }

  sent(call: Call): void {
    if (call.of === 'verdict') this.#judgedAt.set(podKeyIn(call.request.path), this.#evidence.now());
    if (call.of !== 'bind') return;
    const { record, started } = this.#evidence;
    this.#events.push({ at: this.#evidence.now(), added: undefined });
    const { metadata, target } = JSON.parse(String(call.request.body));
    this.#bindings.set(metadata.uid, { at: this.#evidence.now(), node: target.name });
    const plan: string = metadata.annotations?.['tutti.dev/plan'] ?? metadata.uid;
    if (this.#begun.has(plan)) return;
    this.#begun.add(plan);
    const view = call.views.at(-1)!;
    const pods = podsIn(record, view);
    const taken = pods.find(({ key }) => key === `${metadata.namespace}/${metadata.name}`);
    if (taken === undefined) return;
    const past = pastOf(this.#evidence);
    const reserved = reservedCapacity(record, started, past);
    const barred = barredNodes(record, past);
    const nodes = usableNodes(record, this.#obstacles.forbiddenNode, view);
    const surroundings = { claims: claimsIn(record), refused: this.#obstacles.refused ?? [] };
    for (const waiting of this.#waiting(pods, taken.priority)) {
      const [{ group: name }] = waiting as [PlainPod];
      if (name !== undefined && name === taken.group) continue;
      const group = name === undefined ? undefined : groupNamed(record, name, view);
      const missing = group === undefined ? 1 : group.minMember - tallyOf(group, pods).bound.length;
      if ((name !== undefined && group === undefined) || missing <= 0 || missing > waiting.length) continue;
      if (group !== undefined && group.minMember > 0 && nameSeveralSchedulers(tallyOf(group, pods).open)) continue;
      if (group !== undefined && whyHeldBack(record, group, pods, view) !== undefined) continue;
      if (!this.#isRanked(waiting, missing) || respectedBy(waiting, reserved).length > 0) continue;
      const open = closed(nodes, barredFor(barred, waiting));
      const others = this.#takenBesides(waiting, pods, taken);
      const fits = (placed: readonly (readonly [PlainPod, string])[]): boolean =>
        new PlainCapacity(open, placed, surroundings).isFound(waiting, missing) === true;
      if (!fits(others) || fits([...others, [taken, target.name]])) continue;
      const who = name === undefined ? `pod ${waiting[0]!.name}` : `group ${name}`;
      this.#evidence.violated(
        'I10',
        `${call.process.name} binds ${taken.name} of priority ${taken.priority} to ${target.name}, which ${who} of priority ${waiting[0]!.priority} needs and fits`,
      );
    }
  }

  /** Returns what uses capacity besides these pods: also pods of no lower priority whose Bindings were sent before that of `pod`. */
  #takenBesides(
    waiting: readonly PlainPod[],
    pods: readonly PlainPod[],
    pod: PlainPod,
  ): readonly (readonly [PlainPod, string])[] {
    const others = pods.filter((other) => !waiting.includes(other));
    const lowest = Math.min(...waiting.map(({ priority }) => priority));
    const coming = others.flatMap((other) => {
      const sent = isOpen(other) && other !== pod && other.priority >= lowest && this.#bindings.get(other.uid);
      return sent ? [[other, sent.node] as const] : [];
    });
    return [...takenCapacity(others), ...coming];
  }

  /** Returns the members of each entity of a higher priority, by group or alone. */
  #waiting(pods: readonly PlainPod[], priority: number): readonly (readonly PlainPod[])[] {
    const open = pods.filter((pod) => isOpen(pod) && this.#schedulerNames.includes(pod.schedulerName));
    return [...Map.groupBy(open, entityOf).values()].filter((members) =>
      members.every((pod) => pod.priority > priority),
    );
  }

  /** Reports whether the entity was in the queue, and in no back-off, when capacity was last released. */
  #isRanked(waiting: readonly PlainPod[], missing: number): boolean {
    const { record, now, promptFrom } = this.#evidence;
    // An error before the Binding costs a back-off, too. The store shows only the first of several equal ones.
    if (waiting.some(({ scheduled }) => scheduled?.reason === 'SchedulerError')) return false;
    // A failed Binding is an error, which costs a back-off even if capacity is released.
    if (waiting.some(({ uid }) => now() - (this.#bindings.get(uid)?.at ?? -Infinity) < rankedMs)) return false;
    const quietFor = (ms: number): number | undefined =>
      this.#changes.findLast((at, i) => at - (this.#changes[i - 1] ?? 0) > ms);
    const onceAt = quietFor(rankedOnceMs);
    const isOnce = onceAt !== undefined && this.#wasTriedOnce(waiting, missing, onceAt);
    const first = isOnce ? onceAt : quietFor(rankedMs);
    if (first === undefined || this.#changes.at(-1)! - first > terminatesMs || first - promptFrom() < rankedMs)
      return false;
    // It may have been tried again for no reason that the store shows.
    const backOffMs = isOnce ? rankedOnceMs : rankedMs;
    if (waiting.some(({ key }) => first - (this.#judgedAt.get(key) ?? -Infinity) < backOffMs)) return false;
    // A Binding that failed has released capacity again, which was too little for the entity.
    const haveFailed = podsIn(record).some(({ uid, node }) => {
      const at = this.#bindings.get(uid)?.at ?? -Infinity;
      return node === '' && at < first && first - at < backOffMs;
    });
    if (haveFailed) return false;
    // Each release but the last may cost a back-off, because it is too little.
    const releases = record.changes.filter(({ type, at, object, previous, resource }) => {
      if (resource !== 'pods' || at < first || plainPod(object).node === '') return false;
      if (previous !== undefined && hasEnded(plainPod(previous))) return false;
      return type === 'DELETED' || hasEnded(plainPod(object));
    });
    if (releases.length > 1) return false;
    const known = new Set(record.changes.flatMap(({ type, uid, at }) => (type === 'ADDED' && at < first ? [uid] : [])));
    return waiting.every(({ uid }) => known.has(uid));
  }

  /** Reports whether nothing caused an attempt before that time but the arrival of the members, all of which the entity needs. */
  #wasTriedOnce(waiting: readonly PlainPod[], missing: number, before: number): boolean {
    if (missing < waiting.length) return false;
    const entity = entityOf(waiting[0]!);
    const completeAt = this.#events.findLast(({ added }) => added === entity)?.at;
    if (completeAt === undefined) return false;
    return !this.#events.some(({ at, added }) => added !== entity && at > completeAt - attemptMs && at < before);
  }
}

/** Returns the name of the pod's group, or the uid of a pod without one. */
function entityOf({ group, uid }: PlainPod): string {
  return group ?? uid;
}

/** Returns the part of an object that scheduling reads, as text. */
function readPart(resource: string, object: any): string {
  if (resource !== 'pods')
    return JSON.stringify({ labels: object.metadata.labels, spec: object.spec, status: object.status?.allocatable });
  const { phase, isLeaving, group, node, isGated, milliCpu, nominatedNode } = plainPod(object);
  return JSON.stringify({
    hasEnded: phase === 'Failed' || phase === 'Succeeded',
    isLeaving,
    group,
    node,
    isGated,
    milliCpu,
    nominatedNode,
  });
}
