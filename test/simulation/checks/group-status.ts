import type { Checker, Evidence } from './evidence.ts';
import { isOnNode } from './plain-objects.ts';
import { groupsIn, podsIn } from './plain-group.ts';

/** When everything has come to rest, what PodGroups say of their members is so. Only where a controller runs. */
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
      const says = `members ${Number(status.members ?? 0)}, running ${Number(status.running ?? 0)}`;
      const is = `members ${members.length}, running ${running}`;
      // A finished or failed group keeps what it achieved when its pods are cleaned up.
      if (says !== is && members.length > 0)
        this.#evidence.violated('status', `group ${name} says: ${says}; it has ${is}`);
    }
  }
}
