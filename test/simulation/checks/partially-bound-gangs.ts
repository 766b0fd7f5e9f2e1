import type { Call } from '../world/call.ts';
import type { Committed } from '../world/record.ts';
import { CurrentWriter } from './current-writer.ts';
import type { Checker, Evidence } from './evidence.ts';
import { CapacityOfOthers } from './capacity-of-others.ts';
import type { Obstacles } from './capacity-of-others.ts';
import {
  groupNamed,
  groupsIn,
  mayConfirmStart,
  nameSeveralSchedulers,
  notedStart,
  podsIn,
  tallyOf,
  viewAt,
  whyHeldBack,
} from './plain-group.ts';
import type { PlainGroup, PlainPod } from './plain-objects.ts';
import { isGroupResource, isOnNode, plainGroup, plainPod } from './plain-objects.ts';

/** Minimum time to wait for terminating pods, in addition to the grace period. */
const terminationMs = 60_000;
/** Groups are released one at a time, each after the pods of the previous one are gone. */
const turnMs = 30_000;

/**
 * I2, once the cluster has settled: a group that never started has its quorum bound, or no member at all. The latter holds at the latest
 * when its grace period has ended, terminating pods are gone and the other groups have had their turn. After its grace period, a predicted
 * start ahead of it may keep the capacity that it lacks. Excused: cases that the policy or the conditions for a release exclude, and members
 * that fit, but the planner may not find how.
 */
export class PartialGroupChecker implements Checker {
  readonly #evidence: Evidence;
  readonly #obstacles: Obstacles;
  /** uid of a group -> since when it is partially bound */
  readonly #since = new Map<string, number>();
  readonly #writer: CurrentWriter;
  /** When a predicted start was first shown, of an entity that had none. */
  #turnShownAt: number | undefined;

  constructor(evidence: Evidence, obstacles: Obstacles = {}) {
    this.#evidence = evidence;
    this.#obstacles = obstacles;
    this.#writer = new CurrentWriter(evidence.now);
  }

  sent(call: Call): void {
    this.#writer.sent(call);
  }

  committed({ resource, object, previous }: Committed): void {
    const { record } = this.#evidence;
    if (resource.startsWith('podgroups')) this.#look(plainGroup(object).name);
    if (resource !== 'pods') return;
    const isTurnNew =
      plainPod(object).predicted !== undefined && (previous && plainPod(previous).predicted) === undefined;
    if (isTurnNew) this.#turnShownAt = this.#evidence.now();
    const names = [object, previous].flatMap((pod) => (pod === undefined ? [] : (plainPod(pod).group ?? [])));
    for (const name of new Set(names)) if (groupNamed(record, name) !== undefined) this.#look(name);
  }

  settled(): number | undefined {
    const { record, now, seenBy } = this.#evidence;
    const pods = podsIn(record);
    const partial = groupsIn(record).filter((group) => this.#isPartial(group, pods));
    const others = new CapacityOfOthers(this.#evidence, this.#obstacles);
    let again: number | undefined;
    for (const group of partial) {
      const { bound, open } = tallyOf(group, pods);
      const missing = group.minMember - bound.length;
      const what = `group ${group.name} has ${bound.length} of ${group.minMember} members bound`;
      const capacity = others.without(open);
      const isReady = !nameSeveralSchedulers(open) && whyHeldBack(record, group, pods) === undefined;
      const areEnough = open.length >= missing && isReady;
      const isOverdue = now() >= this.#since.get(group.uid)! + group.graceMs;
      const fits = areEnough && capacity.isFound(open, missing) === true;
      const isBehindTurn = fits && isOverdue && others.turnsAhead(open, missing) !== undefined;
      if (fits && !isBehindTurn) {
        const blocked = others.whyBlocked(open, missing);
        if (blocked === undefined) this.#evidence.violated('I2', `${what}, and the others fit`);
        else {
          this.#evidence.excused(`partially bound: ${blocked.why}`);
          again = Math.max(again ?? 0, blocked.until);
        }
        continue;
      }
      const stays = this.#whyItStays(group, bound);
      if (stays !== undefined) {
        this.#evidence.excused(`partially bound: ${stays}`);
        continue;
      }
      const since = Math.max(this.#since.get(group.uid)!, seenBy(), this.#turnShownAt ?? 0);
      const end = since + group.graceMs + Math.max(group.graceMs, terminationMs) + partial.length * turnMs;
      if (now() < end) again = Math.max(again ?? 0, end);
      else if (areEnough && !isBehindTurn && capacity.arrangement(open, missing) !== 'none') {
        // The scheduler may find the arrangement in a dry run, depending on the nodes that it takes first, and keep the group for it.
        this.#evidence.excused('partially bound: the missing members fit, but the planner may not find how');
      } else this.#evidence.violated('I2', `${what}, cannot be completed, and is not released`);
    }
    return again;
  }

  #look(name: string): void {
    const { record, now } = this.#evidence;
    const group = groupNamed(record, name);
    if (group === undefined) return;
    if (!this.#isPartial(group, podsIn(record))) this.#since.delete(group.uid);
    else if (!this.#since.has(group.uid)) this.#since.set(group.uid, now());
  }

  #isPartial(group: PlainGroup, pods: readonly PlainPod[]): boolean {
    const { bound } = tallyOf(group, pods);
    return !this.#evidence.started.has(group.uid) && bound.length > 0 && bound.length < group.minMember;
  }

  /** Returns why the group is not released; undefined: it must be released. */
  #whyItStays(group: PlainGroup, bound: readonly PlainPod[]): string | undefined {
    if (!group.releases) return 'its policy is KeepTrying';
    if (!bound.some(({ isControlled }) => isControlled)) return 'no controller would recreate its members';
    if (this.#mayHaveSeemedWhole(group)) return 'the watches may have shown a lower minMember with later members';
    const isInherited = (this.#writer.since ?? -Infinity) > this.#since.get(group.uid)!;
    if (!isInherited) return undefined;
    const { record } = this.#evidence;
    if (notedStart(group) === undefined) return 'a new leader cannot know whether it has started';
    if (bound.some((pod) => mayConfirmStart(group, pod)))
      return 'it was bound within the second of the start of its earlier life';
    // The leader counts once, when it starts: later deletions and bindings change nothing.
    const wasWhole = this.#writer.views.some((view) => {
      const ofGroup = podsIn(record, view).filter((pod) => pod.group === group.name && pod.node !== '');
      const everBound = ofGroup.filter(({ boundFor }) => boundFor === undefined || boundFor === group.uid);
      if (!everBound.some((pod) => isOnNode(pod) && !pod.isLeaving)) return false;
      return everBound.length >= group.minMember;
    });
    return wasWhole ? 'a new leader assumes that it may have started' : undefined;
  }

  /** Reports whether members that were bound after minMember was raised may have been received before that, and were enough until then. */
  #mayHaveSeemedWhole({ uid }: PlainGroup): boolean {
    const { record, lagMs } = this.#evidence;
    return record.changes.some(({ resource, object, previous, at }) => {
      if (previous === undefined || !isGroupResource(resource) || plainGroup(object).uid !== uid) return false;
      const before = plainGroup(previous);
      if (before.minMember >= plainGroup(object).minMember) return false;
      return record.changes
        .filter((change) => change.resource === 'pods' && change.at > at && change.at <= at + lagMs())
        .some(({ version }) => tallyOf(before, podsIn(record, viewAt(version))).isWhole);
    });
  }
}
