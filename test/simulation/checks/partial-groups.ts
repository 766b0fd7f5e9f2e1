import type { Checker, Evidence } from './evidence.ts';
import { PlainRoom } from './plain-fit.ts';
import { groupsIn, podsIn, takenRoom, tallyOf, usableNodes } from './plain-group.ts';

/**
 * I2 when everything has come to rest: a group that never started has its quorum on nodes, or nobody. Excused: groups that have not as
 * many members as they need, and groups for whose missing members there is no room.
 */
export class PartialGroupChecker implements Checker {
  readonly #evidence: Evidence;

  readonly #forbiddenNode: string | undefined;

  constructor(evidence: Evidence, forbiddenNode: string | undefined) {
    this.#evidence = evidence;
    this.#forbiddenNode = forbiddenNode;
  }

  settled(): void {
    const { record, started } = this.#evidence;
    const pods = podsIn(record);
    for (const group of groupsIn(record)) {
      const { bound, open } = tallyOf(group, pods);
      const missing = group.minMember - bound.length;
      if (started.has(group.uid) || bound.length === 0 || missing <= 0) continue;
      const what = `group ${group.name} has ${bound.length} of ${group.minMember} members on nodes`;
      if (open.length < missing) this.#evidence.excused('in part: the group has too few members');
      else if (
        !new PlainRoom(
          usableNodes(record, this.#forbiddenNode),
          takenRoom(pods.filter((pod) => !open.includes(pod))),
        ).takesAnyhow(open, missing)
      ) {
        // What becomes of those that are bound is the group's policy: it is not checked here. Nor is it when members of different kinds
        // fit in some ways only, which whoever places them one by one may miss.
        this.#evidence.excused('in part: there is no room for the missing members');
      } else this.#evidence.violated('I2', `${what}, and there is room for the others`);
    }
  }
}
