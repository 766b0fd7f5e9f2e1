import type { Call } from '../world/call.ts';
import type { Obstacles } from './capacity-of-others.ts';
import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import { PlainCapacity } from './plain-fit.ts';
import { claimsIn, groupNamed, podsIn, takenCapacity, tallyOf, usableNodes } from './plain-group.ts';
import { reservedCapacity, barredNodes } from './plain-losses.ts';
import { isOpen, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';

/** Longer than the longest back-off: an entity that has waited that long is tried in its turn. */
const rankedMs = 12_000;
/** Maximum time that a pod takes to terminate. */
const terminatesMs = 3_000;

/**
 * I10, when the first Binding of a plan is sent: it takes capacity from no entity of a higher priority that fits by the versions that had reached
 * the sender. Checked only where the order is certain: nothing has changed for longer than a back-off before the latest release of
 * capacity, no fault struck in that time, and no capacity may be reserved.
 */
export class PriorityChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #schedulerNames: readonly string[];
  readonly #obstacles: Obstacles;
  /** Plans, and pods without one, of which a Binding was sent. */
  readonly #begun = new Set<string>();
  /** Times at which something changed that scheduling reads, other than by a scheduler. */
  readonly #changes: number[] = [];

  /** `obstacles`: an entity that only they keep from a node has an error back-off, so its rank does not count. */
  constructor(evidence: Evidence, schedulerNames: readonly string[], obstacles: Obstacles = {}) {
    this.#obstacles = obstacles;
    this.#evidence = evidence;
    this.#schedulerNames = schedulerNames;
  }

  committed({ resource, type, by, object, previous }: Committed): void {
    if (by !== 'world' || !['pods', 'nodes', 'podgroups.scheduling.x-k8s.io'].includes(resource)) return;
    const isRead = type !== 'MODIFIED' || readPart(resource, object) !== readPart(resource, previous);
    if (isRead) this.#changes.push(this.#evidence.now());
  }

  sent(call: Call): void {
    if (call.of !== 'bind') return;
    const { record, lagMs, now, promptFrom, seenBy, started } = this.#evidence;
    const { metadata, target } = JSON.parse(String(call.request.body));
    const plan: string = metadata.annotations?.['tutti.dev/plan'] ?? metadata.uid;
    if (this.#begun.has(plan)) return;
    this.#begun.add(plan);
    const first = this.#changes.findLast((at, i) => at - (this.#changes[i - 1] ?? 0) > rankedMs);
    const last = this.#changes.at(-1);
    if (first === undefined || last! - first > terminatesMs || first - promptFrom() < rankedMs) return;
    const view = call.views.at(-1)!;
    const pods = podsIn(record, view);
    const taken = pods.find(({ key }) => key === `${metadata.namespace}/${metadata.name}`);
    if (taken === undefined) return;
    const past = { now: now(), seenBy: seenBy(), lagMs: lagMs() };
    if (reservedCapacity(record, started, past).length + barredNodes(record, past).length > 0) return;
    const nodes = usableNodes(record, this.#obstacles.forbiddenNode, view);
    const surroundings = { claims: claimsIn(record), refused: this.#obstacles.refused ?? [] };
    for (const waiting of this.#waiting(pods, taken.priority, first)) {
      const [{ group: name }] = waiting as [PlainPod];
      if (name !== undefined && name === taken.group) continue;
      const group = name === undefined ? undefined : groupNamed(record, name, view);
      const missing = group === undefined ? 1 : group.minMember - tallyOf(group, pods).bound.length;
      if ((name !== undefined && group === undefined) || missing <= 0 || missing > waiting.length) continue;
      const others = takenCapacity(pods.filter((pod) => !waiting.includes(pod)));
      const fits = (placed: readonly (readonly [PlainPod, string])[]): boolean =>
        new PlainCapacity(nodes, placed, surroundings).isFoundInOrder(waiting, missing) === true;
      if (!fits(others) || fits([...others, [taken, target.name]])) continue;
      const who = name === undefined ? `pod ${waiting[0]!.name}` : `group ${name}`;
      this.#evidence.violated(
        'I10',
        `${call.process.name} binds ${taken.name} of priority ${taken.priority} to ${target.name}, which ${who} of priority ${waiting[0]!.priority} needs and fits`,
      );
    }
  }

  /** Returns the members of each entity of a higher priority that was there before that time, by group or alone. */
  #waiting(pods: readonly PlainPod[], priority: number, before: number): readonly (readonly PlainPod[])[] {
    const known = new Set(
      this.#evidence.record.changes.flatMap(({ type, uid, at }) => (type === 'ADDED' && at < before ? [uid] : [])),
    );
    const open = pods.filter((pod) => isOpen(pod) && this.#schedulerNames.includes(pod.schedulerName));
    return [...Map.groupBy(open, ({ group, uid }) => group ?? uid).values()].filter((members) =>
      members.every((pod) => pod.priority > priority && known.has(pod.uid)),
    );
  }
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
