import type { Call } from '../world/call.ts';
import { CurrentWriter } from './current-writer.ts';
import type { Checker, Evidence } from './evidence.ts';
import { CapacityOfOthers } from './capacity-of-others.ts';
import { isOpen } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';
import { groupNamed, notedStart, podsIn, tallyOf } from './plain-group.ts';

/**
 * Once the cluster has settled, each waiting pod has a reason to wait: no entity that fits as a whole by the API is forgotten (I5), and the
 * pod states the reason (I7).
 */
export class WaitingChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #schedulerName: string;
  readonly #forbiddenNode: string | undefined;
  readonly #forbiddenPods: readonly string[];
  readonly #writer: CurrentWriter;

  constructor(
    evidence: Evidence,
    {
      schedulerName,
      forbiddenNode,
      forbiddenPods = [],
    }: {
      readonly schedulerName: string;
      readonly forbiddenNode: string | undefined;
      readonly forbiddenPods: readonly string[] | undefined;
    },
  ) {
    this.#evidence = evidence;
    this.#schedulerName = schedulerName;
    this.#forbiddenNode = forbiddenNode;
    this.#forbiddenPods = forbiddenPods;
    this.#writer = new CurrentWriter(evidence.now);
  }

  sent(call: Call): void {
    this.#writer.sent(call);
  }

  settled(): number | undefined {
    const { record, started } = this.#evidence;
    const others = new CapacityOfOthers(this.#evidence, this.#forbiddenNode);
    let again: number | undefined;
    const pods = podsIn(record);
    const ours = pods.filter((pod) => isOpen(pod) && pod.schedulerName === this.#schedulerName);
    for (const pod of ours) this.#hasVerdict(pod);
    const open = ours.filter(({ name }) => !this.#forbiddenPods.includes(name));
    const isExplained = (waiting: readonly PlainPod[], needed: number): boolean => {
      const blocked = others.whyBlocked(waiting, needed);
      if (blocked === undefined) return false;
      this.#evidence.excused(`waits: ${blocked.why}`);
      again = Math.max(again ?? 0, blocked.until);
      return true;
    };
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
        const capacity = others.without(members);
        if (!capacity.takesTogether(members, missing)) continue;
        if (tally!.succeeded > 0 && this.#isTakenForNew(group!)) {
          this.#evidence.excused('waits: a new leader cannot know that it has started');
          continue;
        }
        if (!capacity.takesAnyhow(members, missing)) {
          // A heuristic places members of different forms and may miss the only arrangement that fits.
          this.#evidence.excused('waits: its members have different forms and fit in some arrangements only');
        } else if (!isExplained(members, missing)) {
          this.#evidence.violated(
            'I5',
            `group ${name} waits, though ${missing} of its members fit: ${verdictOf(members[0]!)}`,
          );
        }
        continue;
      }
      for (const pod of members) {
        if (others.without([pod]).takesTogether([pod], 1) && !isExplained([pod], 1)) {
          this.#evidence.violated('I5', `pod ${pod.name} waits, though it fits: ${verdictOf(pod)}`);
        }
      }
    }
    return again;
  }

  /**
   * Reports whether the scheduler takes a started group for a new one, because neither the condition nor the pods present at its start
   * showed that the quorum was once bound.
   */
  #isTakenForNew(group: PlainGroup): boolean {
    const { record } = this.#evidence;
    const { since } = this.#writer;
    if (since === undefined || notedStart(group) === true) return false;
    const version = record.changes.findLast(({ at }) => at <= since)?.version ?? 0;
    return !tallyOf(group, podsIn(record, { pods: version, nodes: version, podgroups: version })).isWhole;
  }

  #hasVerdict(pod: PlainPod): void {
    if (pod.scheduled?.status === 'False' && pod.scheduled.message !== '' && pod.scheduled.reason !== 'SchedulingGated')
      return;
    this.#evidence.violated('I7', `pod ${pod.name} waits without a verdict: ${verdictOf(pod)}`);
  }
}

function verdictOf({ scheduled }: PlainPod): string {
  return scheduled === undefined ? 'no condition' : `${scheduled.reason}: ${scheduled.message}`;
}
