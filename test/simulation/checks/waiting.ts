import type { Checker, Evidence } from './evidence.ts';
import { PlainRoom } from './plain-fit.ts';
import { isOpen } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { groupNamed, podsIn, takenRoom, tallyOf, usableNodes } from './plain-group.ts';

/**
 * When everything has come to rest: whoever waits does so for a reason (I5: nobody is forgotten who fits, whole, on what the API shows), and
 * the pod says which (I7).
 */
export class WaitingChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #schedulerName: string;
  readonly #forbiddenNode: string | undefined;

  constructor(
    evidence: Evidence,
    { schedulerName, forbiddenNode }: { readonly schedulerName: string; readonly forbiddenNode: string | undefined },
  ) {
    this.#evidence = evidence;
    this.#schedulerName = schedulerName;
    this.#forbiddenNode = forbiddenNode;
  }

  settled(): void {
    const { record, started } = this.#evidence;
    const pods = podsIn(record);
    const open = pods.filter((pod) => isOpen(pod) && pod.schedulerName === this.#schedulerName);
    for (const pod of open) this.#hasVerdict(pod);
    const others = (waiting: readonly PlainPod[]): PlainPod[] => pods.filter((pod) => !waiting.includes(pod));
    const room = (waiting: readonly PlainPod[]): PlainRoom =>
      new PlainRoom(usableNodes(record, this.#forbiddenNode), takenRoom(others(waiting)));
    const byGroup = new Map<string | undefined, PlainPod[]>();
    for (const pod of open) byGroup.set(pod.group, [...(byGroup.get(pod.group) ?? []), pod]);
    for (const [name, members] of byGroup) {
      const group = name === undefined ? undefined : groupNamed(record, name);
      if (name !== undefined && group === undefined) continue;
      const tally = group && tallyOf(group, pods);
      const counted =
        (tally?.bound.length ?? 0) + (group !== undefined && started.has(group.uid) ? tally!.succeeded : 0);
      const missing = (group?.minMember ?? 0) - counted;
      if (missing > members.length) continue;
      if (missing > 0) {
        if (!room(members).takesTogether(members, missing)) continue;
        if (!room(members).takesAnyhow(members, missing)) {
          // Members of different kinds are placed by a heuristic, which may miss the one way that there is.
          this.#evidence.excused('waits: its members are of different kinds, and fit in some ways only');
        } else {
          this.#evidence.violated(
            'I5',
            `group ${name} waits, though ${missing} of its members fit: ${said(members[0]!)}`,
          );
        }
        continue;
      }
      for (const pod of members) {
        if (room([pod]).takesTogether([pod], 1)) {
          this.#evidence.violated('I5', `pod ${pod.name} waits, though it fits: ${said(pod)}`);
        }
      }
    }
  }

  #hasVerdict(pod: PlainPod): void {
    if (pod.scheduled?.status === 'False' && pod.scheduled.message !== '' && pod.scheduled.reason !== 'SchedulingGated')
      return;
    this.#evidence.violated('I7', `pod ${pod.name} waits, and nobody says why: ${said(pod)}`);
  }
}

function said({ scheduled }: PlainPod): string {
  return scheduled === undefined ? 'nothing is said of it' : `${scheduled.reason}: ${scheduled.message}`;
}
