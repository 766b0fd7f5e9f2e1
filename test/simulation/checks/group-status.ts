import type { Committed } from '../world/record.ts';
import type { Checker, Evidence } from './evidence.ts';
import { isOnNode, plainPod } from './plain-objects.ts';
import { groupsIn, podsIn } from './plain-group.ts';

/** Longest time from the moment the controller has received a change of a member until its status patch is stored. */
const patchMs = 5_000;

/**
 * Once the cluster has settled, the member counts in PodGroup status are correct. Only where a controller runs. A pod may still start
 * late, for example when a rejection by its node expires; then the counts follow it.
 */
export class GroupStatusChecker implements Checker {
  readonly #evidence: Evidence;
  /** Group name -> time of the last change of a member. */
  readonly #changedAt = new Map<string, number>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  committed({ resource, object, at }: Committed): void {
    if (resource !== 'pods') return;
    const { group } = plainPod(object);
    if (group !== undefined) this.#changedAt.set(group, at);
  }

  settled(): number | undefined {
    const { record, now, lagMs } = this.#evidence;
    const pods = podsIn(record);
    let again: number | undefined;
    for (const { name, uid, status } of groupsIn(record).filter(({ isNative }) => !isNative)) {
      const members = pods.filter((pod) => pod.group === name && (pod.boundFor === undefined || pod.boundFor === uid));
      const running = members.filter((pod) => isOnNode(pod) && pod.phase === 'Running').length;
      const reported = `members ${Number(status.members ?? 0)}, running ${Number(status.running ?? 0)}`;
      const actual = `members ${members.length}, running ${running}`;
      // A finished or failed group keeps its last counts when its pods are cleaned up.
      if (reported === actual || members.length === 0) continue;
      const due = (this.#changedAt.get(name) ?? 0) + lagMs() + patchMs;
      if (due > now()) again = Math.max(again ?? 0, due);
      else this.#evidence.violated('status', `group ${name} reports ${reported}; it has ${actual}`);
    }
    return again;
  }
}
