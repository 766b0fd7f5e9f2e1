import { podKeyIn } from '../world/call.ts';
import type { Call } from '../world/call.ts';
import { CurrentWriter } from './current-writer.ts';
import type { Checker, Evidence } from './evidence.ts';
import { CapacityOfOthers } from './capacity-of-others.ts';
import type { Obstacles } from './capacity-of-others.ts';
import { PlainCapacity } from './plain-fit.ts';
import { hasEnded, isOpen, plainPod } from './plain-objects.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';
import {
  groupNamed,
  missingOf,
  nameSeveralSchedulers,
  isStartNoted,
  podsIn,
  takenCapacity,
  tallyOf,
  usableNodes,
  viewAt,
  whyHeldBack,
} from './plain-group.ts';
import type { View } from './plain-group.ts';
import { hasChanged } from './plain-losses.ts';
import { entityOf, turnsIn } from './plain-turns.ts';
import type { PlainTurn } from './plain-turns.ts';

/**
 * Once the cluster has settled, each waiting pod has a reason to wait, and states it (I7). No entity that fits as a whole by the API is
 * forgotten (I5). None waits for capacity that another group keeps without pods, beyond the limits of I10.
 */
export class WaitingChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #schedulerNames: readonly string[];
  readonly #obstacles: Obstacles;
  readonly #forbiddenPods: readonly string[];
  readonly #writer: CurrentWriter;
  /** namespace/name of a pod -> the state on which its latest verdict was sent */
  readonly #judgedOn = new Map<string, View>();

  constructor(
    evidence: Evidence,
    {
      schedulerNames,
      forbiddenPods = [],
      ...obstacles
    }: Obstacles & {
      readonly schedulerNames: readonly string[];
      readonly forbiddenPods?: readonly string[] | undefined;
    },
  ) {
    this.#evidence = evidence;
    this.#schedulerNames = schedulerNames;
    this.#obstacles = obstacles;
    this.#forbiddenPods = forbiddenPods;
    this.#writer = new CurrentWriter(evidence.now);
  }

  sent(call: Call): void {
    this.#writer.sent(call);
    if (call.of === 'verdict') this.#judgedOn.set(podKeyIn(call.request.path), call.seen);
  }

  settled(): number | undefined {
    const { record, started } = this.#evidence;
    const others = new CapacityOfOthers(this.#evidence, this.#obstacles);
    let again: number | undefined;
    const pods = podsIn(record);
    const ours = pods.filter((pod) => isOpen(pod) && this.#schedulerNames.includes(pod.schedulerName));
    for (const pod of ours) this.#hasVerdict(pod);
    for (const pod of pods) this.#isShownAsGated(pod);
    const turns = turnsIn(this.#evidence, pods);
    this.#haveTurns(ours, turns);
    const open = ours.filter(({ name }) => !this.#forbiddenPods.includes(name));
    const isExplained = (waiting: readonly PlainPod[], needed: number): boolean => {
      const blocked = others.whyBlocked(waiting, needed);
      if (blocked === undefined) return false;
      this.#evidence.excused(`waits: ${blocked.why}`);
      again = later(again, blocked.until);
      return true;
    };
    const isBehindTurn = (waiting: readonly PlainPod[], needed: number): boolean => {
      if (others.turnsAhead(waiting, needed) === undefined) return false;
      this.#evidence.excused('waits: capacity is reserved for an entity ahead of it');
      const hasOwn = turns.some((turn) => turn.waiting.includes(waiting[0]!));
      if (!hasOwn) for (const pod of waiting) this.#isNoDemand(pod);
      return true;
    };
    const byGroup = new Map<string | undefined, PlainPod[]>();
    for (const pod of open) byGroup.set(pod.group, [...(byGroup.get(pod.group) ?? []), pod]);
    for (const [name, members] of byGroup) {
      again = later(again, others.opensAt(members));
      const group = name === undefined ? undefined : groupNamed(record, name);
      if (name !== undefined && group === undefined) continue;
      const tally = group && tallyOf(group, pods);
      const missing = group === undefined ? 0 : missingOf(group, pods, started);
      if (missing > members.length) continue;
      // No waiting member of a group is scheduled while they name several schedulers: DESIGN.md, §4.4, and the verdict says so.
      if (group !== undefined && group.minMember > 0 && nameSeveralSchedulers(tally!.open)) {
        this.#evidence.excused('waits: its members name different schedulers');
        continue;
      }
      const free = members.filter((pod) => {
        const held = group && whyHeldBack(record, group, pods, undefined, pod);
        if (held === undefined) return true;
        this.#evidence.excused(`waits: ${held.why}`);
        this.#isToldWhy(pod, held.pods);
        return false;
      });
      if (free.length === 0) continue;
      if (missing > 0) {
        const capacity = others.without(members);
        const arrangement = capacity.arrangement(members, missing);
        if (arrangement === 'none') continue;
        if (arrangement === 'unknown') {
          this.#evidence.excused('waits: it is unknown whether its members fit');
          continue;
        }
        if (tally!.succeeded > 0 && this.#isTakenForNew(group!)) {
          this.#evidence.excused('waits: a new leader cannot know that it has started');
          continue;
        }
        if (capacity.isFound(members, missing) !== true) {
          // docs/guarantees.md names this exception.
          this.#evidence.excused('waits: its members fit, but the planner may not find how');
        } else if (this.#wasMissedByOrder(group!, members, missing)) {
          this.#evidence.excused(
            'waits: its members fit in order only because another pod has taken capacity since their verdict',
          );
        } else if (!isExplained(members, missing) && !isBehindTurn(members, missing)) {
          this.#evidence.violated(
            others.isKeptByOthers(members, missing) ? 'I10' : 'I5',
            `group ${name} waits, though ${missing} of its members fit: ${verdictOf(members[0]!)}`,
          );
        }
        continue;
      }
      for (const pod of free) {
        if (
          others.without([pod]).arrangement([pod], 1) === 'fits' &&
          !isExplained([pod], 1) &&
          !isBehindTurn([pod], 1)
        ) {
          const invariant = others.isKeptByOthers([pod], 1) ? 'I10' : 'I5';
          this.#evidence.violated(invariant, `pod ${pod.name} waits, though it fits: ${verdictOf(pod)}`);
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
    if (since === undefined || isStartNoted(group, podsIn(record))) return false;
    const version = record.changes.findLast(({ at }) => at <= since)?.version ?? 0;
    return !tallyOf(group, podsIn(record, viewAt(version))).isWhole;
  }

  /**
   * Reports whether the members did not fit in order on the state of their verdict, and nothing that wakes them has happened since: pods of
   * others were bound, and one of them took the node that had misled the planner. Guarantees excepts the arrangements that the order misses.
   */
  #wasMissedByOrder(group: PlainGroup, members: readonly PlainPod[], missing: number): boolean {
    const { record } = this.#evidence;
    const view = this.#judgedOn.get(members[0]!.key);
    // A rejection with an error is retried without an event.
    const isRejected = ({ scheduled, claim }: PlainPod): boolean =>
      scheduled?.reason === 'Unschedulable' && claim === undefined;
    if (view === undefined || !members.every(isRejected)) return false;
    if (groupNamed(record, group.name, view)?.minMember !== group.minMember) return false;
    const hasWoken = record.changes.some(({ resource, version, type, object, previous }) => {
      if (resource === 'nodes') return version > view.nodes && (previous === undefined || hasChanged(object, previous));
      if (resource !== 'pods' || version <= view.pods) return false;
      const pod = plainPod(object);
      const before = previous && plainPod(previous);
      if (pod.group === group.name) return before === undefined || !isOpen(before) || !isOpen(pod);
      return type === 'DELETED' || hasEnded(pod) || (before !== undefined && pod.milliCpu < before.milliCpu);
    });
    if (hasWoken) return false;
    const { forbiddenNode, refused = [] } = this.#obstacles;
    const others = podsIn(record, view).filter(({ uid }) => members.every((pod) => pod.uid !== uid));
    const taken = takenCapacity(others, Math.min(...members.map(({ priority }) => priority)));
    const capacity = new PlainCapacity(usableNodes(record, forbiddenNode, view), taken, { refused });
    return capacity.isFound(members, missing) === false;
  }

  /** A pod waits for its turn only while capacity is reserved for another entity. */
  #haveTurns(ours: readonly PlainPod[], turns: readonly PlainTurn[]): void {
    const { record } = this.#evidence;
    /** entity -> its priority, which is that of its lowest member */
    const priorities = new Map<string, number>();
    for (const pod of ours) {
      const entity = entityOf(record, pod);
      priorities.set(entity, Math.min(pod.priority, priorities.get(entity) ?? Infinity));
    }
    for (const pod of ours) {
      if (pod.scheduled?.reason !== 'WaitingForTurn') continue;
      const own = priorities.get(entityOf(record, pod))!;
      const isThere = turns.some(({ waiting, priority }) => !waiting.includes(pod) && priority >= own);
      if (!isThere) this.#evidence.violated('I5', `pod ${pod.name} waits for its turn, but no entity ahead has one`);
    }
  }

  /** A pod that fits, but for capacity that is reserved for another entity, is no reason to add nodes. */
  #isNoDemand(pod: PlainPod): void {
    if (pod.scheduled?.reason === 'Unschedulable')
      this.#evidence.violated('I5', `pod ${pod.name} waits for its turn, but states ${verdictOf(pod)}`);
  }

  /** The API server shows that a pod has scheduling gates, and nothing replaces that. */
  #isShownAsGated(pod: PlainPod): void {
    if (pod.isGated && pod.scheduled?.reason !== 'SchedulingGated')
      this.#evidence.violated('I7', `pod ${pod.name} has scheduling gates, but its condition says ${verdictOf(pod)}`);
  }

  /** A pod whose group is held back names one of the members that hold it back, or says that they have scheduling gates. */
  #isToldWhy(pod: PlainPod, causes: readonly PlainPod[]): void {
    const { message = '' } = pod.scheduled ?? {};
    const isNamed = causes.some(
      ({ name, isGated }) => message.includes(`pod ${name} `) || (isGated && message.includes('scheduling gates')),
    );
    if (!isNamed) this.#evidence.violated('I7', `pod ${pod.name} is not told what holds back its group: ${message}`);
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

function later(time: number | undefined, other: number | undefined): number | undefined {
  return time === undefined || other === undefined ? (time ?? other) : Math.max(time, other);
}
