import type { Obstacles } from './capacity-of-others.ts';
import type { Evidence } from './evidence.ts';
import { barredFor, barredNodes, mayBeReserved, pastOf, reservedCapacity } from './plain-losses.ts';
import type { Past } from './plain-losses.ts';
import { podsIn, viewAt } from './plain-group.ts';
import type { View } from './plain-group.ts';
import { plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { respectedTurns } from './plain-turns.ts';
import type { PlainTurn } from './plain-turns.ts';
import { isFoundFor } from './preemption-fit.ts';
import type { Beneficiary, PreemptionPlan, PreemptionRecord } from './preemption-record.ts';

/** A pod that takes longer than this to terminate may be one that does not end in time. */
const promptlyMs = 20_000;
/** Longest time that an attempt takes. */
const slackMs = 1_000;
/** Longest time from the moment in which a plan takes capacity until its Bindings are sent. */
export const planTakesMs = 12_000;
/** A plan, and where its sender could not count on capacity when it began. */
interface DoubtfulPlan {
  readonly plan: PreemptionPlan;
  readonly beneficiary: Beneficiary;
  /** Names of nodes that rejected such pods. */
  readonly avoided: readonly string[];
}

export interface NeedlessPreemptionsOptions {
  readonly obstacles: Obstacles;
  readonly plans: PreemptionRecord;
  /** Why it is unknown on which nodes the scheduler may count when it decides. */
  readonly isUnclear: string | undefined;
  /** Returns whether the scheduler may take pods that are terminating for overdue. */
  readonly areClocksWrong: () => boolean;
  /** Returns whether pods may have been planned on nodes of which no call was ever sent. */
  readonly areDelayed: () => boolean;
}

/** I4: nothing is preempted for an entity that fits without that. Judged later, when all that its sender had planned before has been sent. */
export class NeedlessPreemptions {
  readonly #evidence: Evidence;
  readonly #options: NeedlessPreemptionsOptions;
  /** Plans of which it is not known yet whether other plans, of which nothing had been sent, had taken the capacity. */
  #doubtful: DoubtfulPlan[] = [];

  constructor(evidence: Evidence, options: NeedlessPreemptionsOptions) {
    this.#evidence = evidence;
    this.#options = options;
  }

  /** The first mark of the plan is sent. */
  began(plan: PreemptionPlan, beneficiary: Beneficiary): void {
    const { record, started } = this.#evidence;
    const { isUnclear, areClocksWrong, areDelayed, obstacles } = this.#options;
    // Capacity elsewhere may be reserved for members that could not be bound.
    if (obstacles.forbiddenNode !== undefined) return;
    const { waiting, group } = beneficiary;
    const past = pastOf(this.#evidence);
    const isReserved = [undefined, ...plan.views].some((view) =>
      reservedCapacity(record, started, past, view).some((kept) => kept.group !== group?.name),
    );
    if (isUnclear !== undefined || isReserved || areClocksWrong() || areDelayed()) return;
    if (this.#haveNewClaims(waiting, past)) return;
    this.#doubtful.push({ plan, beneficiary, avoided: [...barredFor(barredNodes(record, past), waiting)] });
  }

  /** Checks plans that began a while ago: the beneficiary did not fit without victims, nor in the capacity of pods that terminated. */
  lookBack(): void {
    const { record } = this.#evidence;
    const { obstacles, plans } = this.#options;
    for (const { plan, beneficiary, avoided } of this.#doubtful) {
      const { process, startedAt, views, found, key } = plan;
      // It has noticed that in time.
      if (plan.firstDeleteAt === undefined) continue;
      const until = startedAt + planTakesMs;
      // What it had planned before was never sent.
      if (process.wasStopped(startedAt, until) || this.#hasPlanFailed(plan, beneficiary, until)) continue;
      // The scheduler knows a turn before it has written it.
      const turns = [startedAt, startedAt + slackMs + this.#evidence.lagMs()].map((at) =>
        this.#turnsAt(at, beneficiary),
      );
      const bindings = plans.comingOf(process, until, startedAt - planTakesMs);
      // It does not wait again for pods that did not end in time, and others may have the capacity that victims leave.
      const isGone = (pod: PlainPod, view: View): boolean =>
        pod.isLeaving &&
        this.#isEnding(pod, startedAt) &&
        plans.planOf(process, pod.uid) === undefined &&
        !mayBeReserved(this.#evidence, pod, beneficiary.priority, view);
      const fits = views.every((view, i) => {
        const coming = new Map([...bindings, ...plans.nominatedBy(process, view, until, beneficiary.priority)]);
        return turns.every((each) =>
          isFoundFor(record, found[i] ?? beneficiary, view, {
            coming,
            isGone: (pod) => isGone(pod, view),
            avoided,
            turns: each,
            ...obstacles,
          }),
        );
      });
      if (fits) this.#evidence.violated('I4', `${process.name} preempted for ${key}, which fitted without that`);
    }
    this.#doubtful = [];
  }

  /** Returns the turns that the beneficiary may have to respect, as the store showed them at that time. */
  #turnsAt(time: number, { waiting }: Beneficiary): readonly PlainTurn[] {
    const { record } = this.#evidence;
    const version = record.changes.findLast(({ at }) => at <= time)?.version ?? 0;
    const pods = podsIn(record, viewAt(version));
    return respectedTurns(this.#evidence, waiting, pods);
  }

  /** Reports whether the scheduler may not know the claims of these pods yet. It receives claims and pods by different watches. */
  #haveNewClaims(pods: readonly PlainPod[], { now, lagMs }: Past): boolean {
    const claims = new Set(pods.map(({ claim }) => claim));
    return this.#evidence.record.changes.some(
      ({ resource, key, at }) =>
        resource === 'persistentvolumeclaims' &&
        claims.has(key.slice(key.indexOf('/') + 1)) &&
        now - at < lagMs + slackMs,
    );
  }

  /** Reports whether a plan for others, which may have held any capacity when this one began, failed before its Bindings were sent. */
  #hasPlanFailed({ process, startedAt }: PreemptionPlan, { waiting, priority }: Beneficiary, until: number): boolean {
    const own = new Set(waiting.map(({ uid }) => uid));
    return this.#evidence.record.changes.some(({ resource, by, at, object }) => {
      if (resource !== 'pods' || by !== process.name || at < startedAt || at > until) return false;
      const pod = plainPod(object);
      if (own.has(pod.uid) || pod.node !== '' || pod.priority < priority) return false;
      // Otherwise it says why it could not be bound.
      return pod.scheduled?.message.includes('nodes are available') === false;
    });
  }

  /** Reports whether the pod has not been terminating for long. */
  #isEnding({ uid }: PlainPod, at: number): boolean {
    const asked = this.#evidence.record.changes.find((change) => {
      return change.resource === 'pods' && change.uid === uid && plainPod(change.object).isLeaving;
    });
    return asked !== undefined && at - asked.at < promptlyMs;
  }
}
