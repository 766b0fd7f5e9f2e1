import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { sameLabels } from '../../api/same-labels.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { PreemptionLimits } from '../../framework/preemption-limits.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { PlanReservations } from './plan-reservations.ts';
import type { VictimUnit } from './victim-unit.ts';

/**
 * How a preemption ended:
 * - `bound`: the entity was bound as planned. `elsewhere`: it found other capacity before all victims were gone.
 * - `displaced`: an entity of higher priority took the capacity. `expired`: victims did not terminate in time.
 * - `abandoned`: the entity or a node of the plan changed or is gone, a victim could not be evicted, or the plan no longer fits.
 */
export type PreemptionResult = 'bound' | 'elsewhere' | 'displaced' | 'expired' | 'abandoned';

/**
 * The states of a preemption:
 * - `marking`: the victims get their marks; nothing has been deleted.
 * - `evicting`: all victims are marked and are deleted; the entity waits until they are gone. Also without victims of its own.
 * - `ended`: its reservations and nominations are gone, and what was not sent will not be.
 */
export type PreemptionState =
  { readonly kind: 'marking' | 'evicting' } | { readonly kind: 'ended'; readonly outcome: PreemptionResult };

/** A moment on both clocks: Clock.monotonic(), and milliseconds since the epoch. */
export interface Moment {
  readonly monotonic: number;
  readonly now: number;
}

/**
 * Returns when an entity that waits since `since` (Clock.monotonic()) gives up, if those of these victims that are not terminating yet are deleted
 * now.
 */
export function deadlineFor(
  victims: readonly Pod[],
  { terminationSlackMs, maxWaitMs }: PreemptionLimits,
  now: Moment,
  since: number = now.monotonic,
): Moment {
  let longestMs = victims.length === 0 ? 0 : -Infinity;
  for (const { template, deletionTimestamp } of victims) {
    const graceMs = template.terminationGracePeriodSeconds * 1_000;
    longestMs = Math.max(longestMs, deletionTimestamp === 0 ? graceMs : deletionTimestamp * 1_000 - now.now);
  }
  const ms = Math.min(longestMs + terminationSlackMs, since + maxWaitMs - now.monotonic);
  return { monotonic: now.monotonic + ms, now: now.now + ms };
}

/** How long after its deletion timestamp a pod that is still there counts as overdue. */
const overdueMs = 60_000;

/** Returns whether the pod should have terminated so long ago that no entity waits for it. `now`: milliseconds since the epoch. */
export function isOverdue({ deletionTimestamp }: Pod, now: number): boolean {
  return deletionTimestamp > 0 && now > deletionTimestamp * 1_000 + overdueMs;
}

/** One preemption: what an entity has reserved, and for which pods it waits. */
export class OngoingPreemption {
  readonly key: EntityKey;
  readonly schedulingEntity: SchedulingEntity;
  readonly plan: PlanReservations;
  /** uids of the pods that must leave, also of those that terminate for another reason or make way for another entity */
  readonly victimUids: Set<string>;
  /** Those of them that are still in the cluster cache. */
  readonly waitingUids: Set<string>;
  /** Those of them on nodes of the plan; undefined if none was. */
  #inTheWay: Set<string> | undefined;
  /** The victims that this preemption evicts. */
  readonly units: readonly VictimUnit[];
  /** uids of the victims that are planned but not bound yet */
  readonly recalledUids: readonly string[];
  readonly message: string;
  readonly limits: PreemptionLimits;
  readonly startedAt: number;
  /** The latest generation of the nodes of the plan when its capacity was reserved. */
  readonly generation: number;
  /** When it is given up. Moves if a delete takes long. */
  deadline: Moment;
  /** True if an earlier process began it, so that only its nominations are known. */
  readonly isRecovered: boolean;
  state: PreemptionState;
  /** True once something else has woken the entity in vain. With what that freed, it may fit before the last victim is gone. */
  mayFitEarlier = false;
  readonly #cluster: Cluster;
  readonly #spec: GangSpec | undefined;
  /** Number of members that the group needed, all of which are nominated. */
  readonly #missing: number;
  /** A nominated pod no longer asks for the same. */
  #isChanged = false;
  /** uid -> pod as it was nominated */
  readonly #nominated: ReadonlyMap<string, Pod>;

  constructor(
    cluster: Cluster,
    options: Pick<
      OngoingPreemption,
      | 'schedulingEntity'
      | 'plan'
      | 'units'
      | 'recalledUids'
      | 'message'
      | 'limits'
      | 'startedAt'
      | 'generation'
      | 'deadline'
      | 'isRecovered'
    > & {
      readonly victims: readonly Pod[];
    },
  ) {
    this.key = entityKeyOf(options.schedulingEntity);
    this.schedulingEntity = options.schedulingEntity;
    this.plan = options.plan;
    this.victimUids = new Set(options.victims.map(({ uid }) => uid));
    this.waitingUids = new Set(this.victimUids);
    const nodes = new Set(options.plan.nominations.map(({ nodeName }) => nodeName));
    const inTheWay = options.victims.flatMap(({ uid, nodeName }) => (nodes.has(nodeName) ? [uid] : []));
    this.#inTheWay = inTheWay.length === 0 ? undefined : new Set(inTheWay);
    this.units = options.units;
    this.recalledUids = options.recalledUids;
    this.message = options.message;
    this.limits = options.limits;
    this.startedAt = options.startedAt;
    this.generation = options.generation;
    this.deadline = options.deadline;
    this.isRecovered = options.isRecovered;
    this.state = { kind: options.units.length > 0 ? 'marking' : 'evicting' };
    this.#cluster = cluster;
    this.#nominated = new Map(options.plan.nominations.map(({ pod }) => [pod.uid, pod]));
    const { schedulingEntity } = options;
    this.#spec = schedulingEntity.kind === 'gang' ? schedulingEntity.gang.spec : undefined;
    this.#missing = schedulingEntity.kind === 'gang' ? schedulingEntity.gang.missing : 1;
  }

  /** Returns whether this preemption evicts the pod. */
  evicts(uid: string): boolean {
    return this.units.some((unit) => unit.has(uid));
  }

  /** True once all victims have left the cluster cache. */
  get isAlone(): boolean {
    return this.waitingUids.size === 0;
  }

  /** True once all victims on nodes of the plan have left the cluster cache. Other members of their groups may still run elsewhere. */
  get isFreed(): boolean {
    return this.#inTheWay === undefined ? this.isAlone : this.#inTheWay.size === 0;
  }

  /** From now on, it also waits for a pod on a node of the plan. */
  await(uid: string): void {
    this.victimUids.add(uid);
    this.waitingUids.add(uid);
    (this.#inTheWay ??= new Set()).add(uid);
  }

  /** A victim has left the cluster cache. Returns whether it was the last one, or the last one on the nodes of the plan. */
  victimLeft(uid: string): boolean {
    this.waitingUids.delete(uid);
    const frees = this.#inTheWay?.delete(uid) === true && this.isFreed;
    return frees || this.isAlone;
  }

  /** Number of victims that were evicted for it. */
  get evictedCount(): number {
    return this.units.reduce((sum, { evictedCount }) => sum + evictedCount, 0);
  }

  /** `bound` if the entity has what it asked for, `changed` if it no longer asks for the same, otherwise `waiting`. */
  get demand(): 'bound' | 'changed' | 'waiting' {
    const { schedulingEntity, plan } = this;
    if (schedulingEntity.kind === 'gang') {
      const gang = this.#cluster.gang(schedulingEntity.gang.key);
      const { spec } = gang ?? {};
      if (spec?.uid !== this.#spec?.uid || spec?.minMember !== this.#spec?.minMember) return 'changed';
      if (gang === undefined || gang.missing === 0) return gang?.count('planned') === 0 ? 'bound' : 'waiting';
      // Another member could not be bound, or is gone. The plan has no capacity for it.
      if (gang.missing > this.#missing) return 'changed';
    } else if (this.#isBound(plan.owner)) return 'bound';
    return this.#isChanged ? 'changed' : 'waiting';
  }

  /** A nominated pod may have changed. Each change is reported, so that the others need no check. */
  memberSeen(uid: string): void {
    if (!this.#asksSame(uid)) this.#isChanged = true;
  }

  /** True if a member is assumed on a node. */
  get isBeingBound(): boolean {
    return this.plan.nominations.some(({ pod }) => this.#cluster.isAssumed(pod.uid));
  }

  #isBound({ uid }: Pod): boolean {
    const pod = this.#cluster.pod(uid);
    return pod !== undefined && pod.nodeName !== '' && !isTerminal(pod);
  }

  /** Returns whether the nominated pod asks for the same as then, or has been bound. */
  #asksSame(uid: string): boolean {
    const before = this.#nominated.get(uid)!;
    const now = this.#cluster.pod(before.uid);
    if (now === undefined || isTerminal(now) || now.deleting || now.podGroupKey !== before.podGroupKey) return false;
    if (now.nodeName !== '') return true;
    return (
      now.template === before.template &&
      now.priority === before.priority &&
      now.schedulingGates.length === 0 &&
      sameLabels(now.labels, before.labels)
    );
  }
}
