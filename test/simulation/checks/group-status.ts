import type { Checker, Evidence } from './evidence.ts';
import { isOnNode } from './plain-objects.ts';
import { groupsIn, podsIn } from './plain-group.ts';

/** Once the cluster has settled, the member counts in PodGroup status are correct. Only where a controller runs. */
export class GroupStatusChecker implements Checker {
  readonly #evidence: Evidence;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  settled(): undefined {
    const { record } = this.#evidence;
    const pods = podsIn(record);
    for (const { name, uid, status } of groupsIn(record)) {
      const members = pods.filter((pod) => pod.group === name && (pod.boundFor === undefined || pod.boundFor === uid));
      const running = members.filter((pod) => isOnNode(pod) && pod.phase === 'Running').length;
      const reported = `members ${Number(status.members ?? 0)}, running ${Number(status.running ?? 0)}`;
      const actual = `members ${members.length}, running ${running}`;
      // A finished or failed group keeps its last counts when its pods are cleaned up.
      if (reported !== actual && members.length > 0)
        this.#evidence.violated('status', `group ${name} reports ${reported}; it has ${actual}`);
    }
  }
}
