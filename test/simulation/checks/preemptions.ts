import type { Call } from '../world/call.ts';
import { podKeyIn } from '../world/call.ts';
import type { Committed } from '../world/record.ts';
import type { Obstacles } from './capacity-of-others.ts';
import type { Checker, Evidence } from './evidence.ts';
import { groupNamed, podsIn, tallyOf } from './plain-group.ts';
import type { View } from './plain-group.ts';
import { NeedlessPreemptions, planTakesMs } from './needless-preemptions.ts';
import { hasEnded, isMarked, isOnNode, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { hasStarted, isUnchanged, nodesOf, slackMs, whyEnded } from './preemption-ends.ts';
import { isImpossibleFor } from './preemption-fit.ts';
import { PreemptionRecord, readMark } from './preemption-record.ts';
import type { Beneficiary, PreemptionPlan } from './preemption-record.ts';
import { PreemptionTally } from './preemption-tally.ts';

/** How long the scheduler may take to end a preemption whose time is over. */
const endsInMs = 15_000;
/** Pause after a failed preemption; doubles each time. */
const pauseMs = 60_000;

/**
 * I4, by what was sent and committed, and by what the sender had received.
 * - When a mark is sent: the beneficiary waits, may preempt, has a higher priority than the victim, and does not fit without victims. The
 *   victim makes way for no other entity of equal or higher priority.
 * - When a delete is sent: all victims of the plan are marked, and the beneficiary fits without them. A group keeps its quorum, unless it goes
 *   as a whole only, or all its members go, of which none has the priority of the beneficiary.
 * - A new leader binds nothing before it has evicted the rest of groups whose eviction had begun.
 * - No capacity stays reserved after the deadline.
 * - Once the cluster has settled, no mark is left on a pod that stays, no victim group is left in part, and each beneficiary for which a pod
 *   was deleted has started, unless something explains why it could not.
 *
 * Not checked: whether fewer victims would have been enough.
 */
export class PreemptionChecker implements Checker {
  readonly tally: PreemptionTally;
  readonly #evidence: Evidence;
  readonly #obstacles: Obstacles;
  readonly #isUnclear: string | undefined;
  readonly #areClocksWrong: () => boolean;
  readonly #needless: NeedlessPreemptions;
  readonly #plans: PreemptionRecord;
  /** plan -> group of which all members go -> uids of these members */
  readonly #whole = new Map<PreemptionPlan, Map<string, readonly string[]>>();
  /** Plans whose beneficiary has started since. */
  readonly #served = new Set<PreemptionPlan>();
  /** process -> uids of pods that are left of groups which an earlier process had begun to evict */
  readonly #inherited = new Map<Call['process'], Set<string>>();
  /** process and uid of a pod -> the calls that take back or renew its mark, or delete it */
  readonly #calls = new Map<string, Call[]>();
  /** Plans whose capacity was found reserved for too long. */
  readonly #overdue = new Set<PreemptionPlan>();
  /** Victims of plans that were marked for others of no higher priority. */
  #takenOver: { readonly earlier: PreemptionPlan; readonly at: number; readonly what: string }[] = [];

  /**
   * `isUnclear`: why the checker cannot tell on which nodes the scheduler may count when it decides. `areClocksWrong`: returns whether the
   * scheduler may be wrong about when pods that are terminating are overdue. `areDelayed`: returns whether planned Bindings may be withdrawn before
   * they are sent, because calls have waited for a connection.
   */
  constructor(
    evidence: Evidence,
    obstacles: Obstacles = {},
    isUnclear?: string,
    areClocksWrong: () => boolean = () => false,
    areDelayed: () => boolean = () => false,
  ) {
    this.#evidence = evidence;
    this.#obstacles = obstacles;
    this.#isUnclear = isUnclear;
    this.#areClocksWrong = areClocksWrong;
    this.#plans = new PreemptionRecord(evidence, isUnclear !== undefined);
    const plans = this.#plans;
    this.tally = new PreemptionTally(plans);
    this.#needless = new NeedlessPreemptions(evidence, { obstacles, plans, isUnclear, areClocksWrong, areDelayed });
  }

  sent(call: Call): void {
    const { process, of, request } = call;
    if (process.role !== 'scheduler') return;
    if (of !== 'lease' && request.method !== 'GET' && !this.#inherited.has(process)) this.#begins(call);
    if (of === 'bind') {
      this.#binds(call);
      this.#plans.bound(call);
    } else if (of === 'mark') this.#marks(call);
    else if (of === 'evict' && request.method === 'DELETE') this.#deletes(call);
  }

  done(call: Call): void {
    if (call.of === 'read') this.#plans.read(call);
  }

  committed({ resource, object, by, at, uid }: Committed): void {
    if (resource.startsWith('events')) this.tally.reported((object as any).reason);
    if (resource !== 'pods' && !resource.startsWith('podgroups')) return;
    for (const plan of this.#plans.plans) {
      const { beneficiary } = plan;
      if (beneficiary === undefined || this.#served.has(plan)) continue;
      if (hasStarted(this.#evidence.record, beneficiary)) this.#served.add(plan);
      else if (by === 'world' && !this.#overdue.has(plan) && this.#holdsUntil(plan) + endsInMs < at)
        this.#isHeld(plan, uid);
    }
  }

  settled(): number | undefined {
    const { record, now } = this.#evidence;
    this.#needless.lookBack();
    this.#lookBack();
    for (const pod of podsIn(record)) {
      if (!isMarked(pod) || pod.isLeaving || !isOnNode(pod)) continue;
      this.#violated(`pod ${pod.name} stays, and its mark "${pod.disruption!.message}" too`);
    }
    let again: number | undefined;
    for (const plan of this.#plans.plans) {
      this.#isTorn(plan);
      const isCarriedOut = [...plan.victims.values()].some(({ deletes }) =>
        deletes.some(({ status }) => status! < 300),
      );
      if (!isCarriedOut || plan.beneficiary === undefined || this.#served.has(plan)) continue;
      const due = this.#holdsUntil(plan) + endsInMs;
      if (this.#isNominated(plan.beneficiary) && now() < due) again = Math.max(again ?? 0, due);
      else this.#didNotStart(plan);
    }
    return again;
  }

  /** Latest time at which the scheduler may preempt again for entities that still wait, as far as it is known now. */
  get actsUntil(): number {
    let until = 0;
    for (const { plan, times } of this.#waiting()) {
      until = Math.max(
        until,
        this.#holdsUntil(plan),
        this.#holdsUntil(plan) - slackMs + pauseMs * 2 ** Math.min(times, 4),
      );
    }
    return until;
  }

  /** Returns the latest plan of each beneficiary that still waits, and how many plans there were for it. */
  #waiting(): readonly { readonly plan: PreemptionPlan; readonly times: number }[] {
    const { record } = this.#evidence;
    const open = this.#plans.plans.filter((plan) => {
      return plan.beneficiary !== undefined && !this.#served.has(plan) && isUnchanged(record, plan.beneficiary);
    });
    return [...Map.groupBy(open, ({ key }) => key).values()].map((plans) => ({
      plan: plans.at(-1)!,
      times: plans.length,
    }));
  }

  #violated(what: string): void {
    this.#evidence.violated('I4', what);
  }

  /** Remembers what is left of groups whose eviction an earlier process has begun, as the new one sees it. */
  #begins({ process, views }: Call): void {
    const found = new Set<string>();
    const { record } = this.#evidence;
    const view = views.at(-1)!;
    const pods = podsIn(record, view);
    const left = new Set(pods.filter((pod) => isOnNode(pod) && !pod.isLeaving).map(({ uid }) => uid));
    for (const [plan, groups] of this.#whole) {
      if (plan.process === process) continue;
      for (const [group, uids] of groups) {
        const rest = uids.filter((uid) => left.has(uid));
        const known = groupNamed(record, group, view);
        const isBroken = known !== undefined && (known.goesWhole || rest.length < known.minMember);
        if (rest.length < uids.length && isBroken) for (const uid of rest) found.add(uid);
      }
    }
    this.#inherited.set(process, found);
  }

  #binds({ process, views }: Call): void {
    const inherited = this.#inherited.get(process)!;
    if (inherited.size === 0) return;
    for (const pod of podsIn(this.#evidence.record, views[0])) {
      const isLeft = inherited.has(pod.uid) && isMarked(pod) && isOnNode(pod) && !pod.isLeaving;
      if (!isLeft || this.#callsOn(process, pod.uid).some(({ status }) => status !== undefined)) continue;
      this.#violated(`${process.name} binds before it has evicted ${pod.name}, the rest of a group that it found`);
    }
    inherited.clear();
  }

  #marks(call: Call): void {
    const { now } = this.#evidence;
    const { process } = call;
    const text = readMark(call, this.#evidence.record);
    this.#callsOn(process, text.uid).push(call);
    const earlier = this.#plans.planOf(process, text.uid);
    const marked = this.#plans.marked(call);
    const name = podKeyIn(call.request.path);
    if (marked === undefined) {
      const isOther = text.isTrue && text.for === undefined && !this.#isRest(call, text.uid);
      if (isOther)
        this.#violated(`${process.name} continues a preemption with ${name}, of whose group nothing is preempted`);
      return;
    }
    const { plan, isFirst } = marked;
    const { beneficiary, key } = plan;
    if (isFirst) {
      this.tally.counts['plans with victims']++;
      if (beneficiary === undefined)
        this.#violated(`${process.name} preempts for ${key}, which it had seen does not wait`);
      else this.#mayPreempt(plan, beneficiary);
    }
    if (beneficiary === undefined) return;
    const { pod } = plan.victims.get(text.uid)!;
    if (!this.#wasBound(call, text.uid))
      this.#violated(`${process.name} preempts ${name}, which it had seen is not bound`);
    if (pod.priority >= beneficiary.priority)
      this.#violated(
        `${process.name} preempts ${name} of priority ${pod.priority} for ${key} of ${beneficiary.priority}`,
      );
    const isPromised =
      earlier !== undefined &&
      earlier !== plan &&
      earlier.key !== key &&
      !this.#isOver(earlier) &&
      earlier.beneficiary !== undefined &&
      earlier.beneficiary.priority >= beneficiary.priority;
    if (!isPromised) return;
    const what = `${process.name} preempts ${name} for ${key}, although it makes way for ${earlier.key}`;
    this.#takenOver.push({ earlier, at: now(), what });
  }

  /** Checks victims that were taken from other plans: these had ended, although nothing had been sent of that yet. */
  #lookBack(): void {
    const { record } = this.#evidence;
    for (const { earlier, at, what } of this.#takenOver) {
      const until = at + planTakesMs;
      if (this.#isUnclear !== undefined || earlier.process.wasStopped(at, until)) continue;
      const uids = new Set(earlier.beneficiary!.waiting.map(({ uid }) => uid));
      const isOver = record.changes.some(({ resource, object, previous, at: changedAt }) => {
        if (resource !== 'pods' || previous === undefined || changedAt < at || changedAt > until) return false;
        return uids.has(plainPod(object).uid) && !isNominated(plainPod(object)) && isNominated(plainPod(previous));
      });
      if (!isOver) this.#violated(what);
    }
    this.#takenOver = [];
  }

  /** Reports whether the pod was on a node by a state on which the sender may have decided. */
  #wasBound({ begun, views, request }: Call, uid: string): boolean {
    return [begun.seen, ...views].some(({ pods }) => {
      const object = this.#evidence.record.get('pods', podKeyIn(request.path), pods);
      return object !== undefined && plainPod(object).uid === uid && isOnNode(plainPod(object));
    });
  }

  /** Reports whether the plan may have ended before now. */
  #isOver(plan: PreemptionPlan): boolean {
    const { record, now } = this.#evidence;
    if (plan.isCancelled || this.#served.has(plan) || this.#holdsUntil(plan) < now()) return true;
    return whyEnded(record, plan) !== undefined || !this.#isNominated(plan.beneficiary!);
  }

  #mayPreempt(plan: PreemptionPlan, beneficiary: Beneficiary): void {
    const { key, waiting } = beneficiary;
    if (waiting.some(({ neverPreempts }) => neverPreempts))
      this.#violated(`${plan.process.name} preempts for ${key}, whose preemptionPolicy is Never`);
    this.#needless.began(plan, beneficiary);
  }

  #callsOn(process: Call['process'], uid: string): Call[] {
    const key = `${process.name} ${uid}`;
    const calls = this.#calls.get(key) ?? [];
    this.#calls.set(key, calls);
    return calls;
  }

  /** Reports whether the pod is left of a group of which others are marked, by what the sender had received. */
  #isRest({ begun, views }: Call, uid: string): boolean {
    const { record } = this.#evidence;
    return [begun.seen, ...views].some((view) => {
      const pods = podsIn(record, view);
      const group = pods.find((pod) => pod.uid === uid)?.group;
      const known = group === undefined ? undefined : groupNamed(record, group, view);
      const isLive = (pod: PlainPod): boolean => !isMarked(pod);
      if (known === undefined) return false;
      if (!known.goesWhole && tallyOf(known, pods).bound.filter(isLive).length >= known.minMember) return false;
      return pods.some((pod) => pod.group === group && isMarked(pod));
    });
  }

  #deletes(call: Call): void {
    const { record, now } = this.#evidence;
    const { process } = call;
    const name = podKeyIn(call.request.path);
    const { uid = '' } = JSON.parse(String(call.request.body)).preconditions ?? {};
    const isRepeated = this.#callsOn(process, uid).some(({ request }) => request.method === 'DELETE');
    this.#callsOn(process, uid).push(call);
    const plan = this.#plans.planOf(process, uid);
    const isFirst = plan?.firstDeleteAt === undefined;
    this.#plans.deleted(call, now());
    if (plan === undefined) {
      if (!isRepeated && !this.#isRest(call, uid))
        this.#violated(`${process.name} deletes ${name}, which it had not marked`);
      return;
    }
    for (const [victim, { pod }] of plan.victims) {
      const object = record.get('pods', pod.key);
      const known = object && plainPod(object);
      const isGone = known?.uid !== victim || known.isLeaving || hasEnded(known);
      if (isGone || isMarked(known) || known.disruption !== undefined) continue;
      this.#violated(`${process.name} deletes ${name} for ${plan.key} before ${pod.name} is marked`);
    }
    if (isFirst && plan.beneficiary !== undefined) this.#isSound(plan, plan.beneficiary, call);
  }

  /** Checks the victims of a plan, all of which are known, as a whole. */
  #isSound(plan: PreemptionPlan, beneficiary: Beneficiary, call: Call): void {
    const { process, views, key, victims } = plan;
    const all = [...views, ...call.views];
    const { record } = this.#evidence;
    const coming = this.#plans.comingOf(process);
    // It may count on what the victims of other plans leave.
    const isGone = ({ uid, isLeaving }: PlainPod): boolean =>
      isLeaving || victims.has(uid) || this.#plans.isGoing(process, uid);
    if (all.every((view) => isImpossibleFor(record, beneficiary, view, { coming, isGone, ...this.#obstacles })))
      this.#violated(`${process.name} deletes pods for ${key}, which does not fit without them either`);
    const groups = new Set([...victims.values()].flatMap(({ pod }) => pod.group ?? []));
    const whole = new Map<string, readonly string[]>();
    for (const group of groups) {
      const found = all.map((view) => this.#unitOf(plan, group, view));
      const fine = found.find((each) => typeof each === 'object');
      if (fine === undefined)
        this.#violated(`${process.name} preempts members of group ${group} for ${key}, ${String(found[0])}`);
      else if (fine.length > 0) whole.set(group, fine);
    }
    this.#whole.set(plan, whole);
    if (whole.size > 0) this.tally.counts['plans with whole gangs']++;
  }

  /** Returns the uids of the members that go together; none: only members beyond the quorum go. A text: what is wrong by this view. */
  #unitOf({ process, victims, beneficiary }: PreemptionPlan, name: string, view: View): readonly string[] | string {
    const { record, started } = this.#evidence;
    const group = groupNamed(record, name, view);
    if (group === undefined) return [];
    const tally = tallyOf(group, podsIn(record, view));
    const coming = tally.open.filter(({ uid }) => this.#plans.isComingTo(process, group.uid, uid));
    const bound = [...tally.bound, ...coming];
    const isGoing = ({ uid }: PlainPod): boolean =>
      victims.has(uid) || (this.#plans.isGoing(process, uid) && !this.#plans.mayBeGivenUp(process, uid));
    const going = bound.filter(isGoing);
    const stays = bound.length - going.length;
    const counted = stays + (started.has(group.uid) ? tally.succeeded : 0);
    if (going.length === 0 || (!group.goesWhole && counted >= group.minMember)) return [];
    if (stays > 0) return `of which ${counted} stay, but it needs ${group.goesWhole ? 'all' : group.minMember}`;
    const highest = Math.max(...bound.map(({ priority }) => priority));
    if (highest >= beneficiary!.priority) return `of which one has the priority ${highest}`;
    return bound.map(({ uid }) => uid);
  }

  #isNominated({ waiting }: Beneficiary): boolean {
    const { record } = this.#evidence;
    return waiting.some(({ key, uid }) => {
      const object = record.get('pods', key);
      const pod = object && plainPod(object);
      return pod?.uid === uid && isNominated(pod);
    });
  }

  /** Returns since when the nominations stand that a scheduler wrote; it does not take back those of other components. Infinity: none does. */
  #nominatedSince({ waiting }: Beneficiary): number {
    const { record } = this.#evidence;
    const since = waiting.flatMap(({ key, uid }) => {
      const object = record.get('pods', key);
      if (object === undefined || plainPod(object).uid !== uid || !isNominated(plainPod(object))) return [];
      const latest = record.changes.findLast((change) => {
        if (change.uid !== uid || change.previous === undefined) return false;
        return plainPod(change.object).nominatedNode !== plainPod(change.previous).nominatedNode;
      });
      return latest?.by.startsWith('scheduler') === true ? [latest.at] : [];
    });
    return since.length === 0 ? Infinity : Math.max(...since);
  }

  /** Returns when the beneficiary must give up at the latest, by the deletes that were accepted so far. */
  #holdsUntil({ victims, startedAt }: PreemptionPlan): number {
    let until = startedAt + slackMs;
    for (const { pod, mark, deletes } of victims.values()) {
      const latest = Math.max(mark.sentAt, ...deletes.map(({ sentAt, doneAt }) => doneAt ?? sentAt));
      until = Math.max(until, latest + pod.graceMs + slackMs);
    }
    return until;
  }

  /** `changed`: uid of the object that changes now, or has just gone. */
  #isHeld(plan: PreemptionPlan, changed: string): void {
    const { record, promptFrom, now } = this.#evidence;
    const { beneficiary, victims, process } = plan;
    const isStuck = [...victims.values()].some(({ pod }) => {
      const object = record.get('pods', pod.key);
      return pod.uid === changed || (object !== undefined && plainPod(object).uid === pod.uid);
    });
    if (!process.isAlive || process.isPaused || !isStuck || this.#areClocksWrong()) return;
    // It may wait again, for pods that terminate anyway.
    if (this.#nominatedSince(beneficiary!) > plan.startedAt + planTakesMs) return;
    if (this.#waitsWithOthers(plan)) return;
    if (this.#plans.plans.findLast(({ key }) => key === plan.key) !== plan || promptFrom() > now()) return;
    this.#overdue.add(plan);
    this.#violated(`capacity stays reserved for ${plan.key} although a victim has not ended in time`);
  }

  /** Reports whether the plan may wait as long as another one, whose victims are on one of its nodes. */
  #waitsWithOthers({ process, key, beneficiary }: PreemptionPlan): boolean {
    const { record, now } = this.#evidence;
    const nodes = beneficiary!.waiting.map((pod) => {
      const object = record.get('pods', pod.key);
      return object && plainPod(object).nominatedNode;
    });
    return this.#plans.plans.some((other) => {
      if (other.process !== process || other.key === key || this.#holdsUntil(other) + endsInMs < now()) return false;
      return [...other.victims.values()].some(({ pod }) => nodes.includes(pod.node));
    });
  }

  /** Reports a group of which some members were evicted and others are left. */
  #isTorn(plan: PreemptionPlan): void {
    const { record } = this.#evidence;
    for (const [group, uids] of this.#whole.get(plan) ?? []) {
      const all = podsIn(record);
      const left = all.filter((pod) => uids.includes(pod.uid) && isOnNode(pod) && !pod.isLeaving);
      const known = groupNamed(record, group);
      if (left.length === 0 || left.length === uids.length || known === undefined) continue;
      const wasEvicted = uids.some((uid) => plan.victims.get(uid)?.deletes.some(({ status }) => status! < 300));
      if (!wasEvicted || (!known.goesWhole && tallyOf(known, all).bound.length >= known.minMember)) continue;
      // A process that does not know the group treats its members as single pods.
      if (known.isNative && this.#obstacles.wereNativeGroupsHidden?.() === true)
        this.#evidence.excused('a group was evicted in part: its PodGroup was not served');
      // Members of a group object that is gone belong to no group.
      else if (left.every(({ boundFor }) => boundFor !== undefined && boundFor !== known.uid))
        this.#evidence.excused('a group was evicted in part: it was created again');
      else this.#violated(`${left.length} members of group ${group}, which was preempted for ${plan.key}, are left`);
    }
  }

  #didNotStart(plan: PreemptionPlan): void {
    const { record, promptFrom } = this.#evidence;
    const { forbiddenNode } = this.#obstacles;
    const isRejected =
      forbiddenNode !== undefined &&
      (nodesOf(record, plan)?.has(forbiddenNode) !== false || this.#plans.wasTriedOn(forbiddenNode, plan));
    const why =
      whyEnded(record, plan) ??
      (promptFrom() > plan.startedAt ? 'a fault struck' : isRejected ? 'a node rejects all Bindings' : this.#isUnclear);
    if (why === undefined)
      this.#violated(`pods were evicted for ${plan.key}, which did not start, and nothing explains it`);
    else this.#evidence.excused(`a beneficiary did not start: ${why}`);
  }
}

/** Reports whether the pod waits for a node on which capacity is reserved for it. */
function isNominated({ node, nominatedNode }: PlainPod): boolean {
  return node === '' && nominatedNode !== '';
}
