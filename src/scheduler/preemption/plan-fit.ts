import type { Pod } from '../../api/pod.ts';
import type { Multimap } from '../../base/multimap.ts';
import { toError } from '../../base/to-error.ts';
import type { Logger } from '../../observability/logger.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { Intake } from '../intake/intake.ts';
import type { OngoingPreemption } from './ongoing-preemption.ts';
import type { PlanReservations } from './plan-reservations.ts';
import { nameOf } from './preemption-texts.ts';

export interface PlanFitOptions {
  readonly intake: Pick<Intake, 'cluster' | 'dryRuns' | 'profiles'>;
  readonly logger: Logger;
  /** uid of a victim -> the preemptions that wait for it */
  readonly awaited: Multimap<string, OngoingPreemption>;
  /**
   * Returns which reservations for predicted starts do not count for an entity that starts once its victims are gone, by the owner's uid;
   * undefined: all count.
   */
  readonly turnsIgnoredBy: (key: EntityKey) => ((uid: string) => boolean) | undefined;
}

type ReservedPlan = Pick<OngoingPreemption, 'schedulingEntity' | 'plan' | 'waitingUids'>;

/** Checks whether reserved plans still fit. */
export class PlanFit {
  readonly #intake: Pick<Intake, 'cluster' | 'dryRuns' | 'profiles'>;
  readonly #logger: Logger;
  readonly #awaited: Multimap<string, OngoingPreemption>;
  readonly #turnsIgnoredBy: PlanFitOptions['turnsIgnoredBy'];

  constructor({ intake, logger, awaited, turnsIgnoredBy }: PlanFitOptions) {
    this.#intake = intake;
    this.#logger = logger;
    this.#awaited = awaited;
    this.#turnsIgnoredBy = turnsIgnoredBy;
  }

  /** Returns whether the plan still fits once the pods that it waits for, and `leaving`, are gone. True if that cannot be checked. */
  stillFits(reserved: ReservedPlan, leaving: readonly Pod[] = []): boolean {
    return this.#fits(reserved, leaving) !== false;
  }

  /** Returns whether the plan fits beside its victims, except those that leave in any case. */
  fitsBeside(ongoing: OngoingPreemption): boolean {
    const { schedulingEntity, plan } = ongoing;
    const { cluster } = this.#intake;
    const leaves = (uid: string): boolean => !ongoing.evicts(uid) || cluster.pod(uid)?.deleting === true;
    const waitingUids = new Set([...ongoing.waitingUids].filter(leaves));
    return this.#fits({ schedulingEntity, plan, waitingUids }, []) === true;
  }

  /**
   * Returns the pods on the nodes of the plan that are being evicted for other entities, if the plan fits once they are gone. Until then, the
   * capacity that is reserved for those entities counts beside them.
   */
  fitsWithout(ongoing: OngoingPreemption): readonly Pod[] | undefined {
    const { cluster } = this.#intake;
    const nodes = new Set(ongoing.plan.nominations.map(({ nodeName }) => nodeName));
    const leaving = [...nodes].flatMap((name) =>
      [...(cluster.node(name)?.pods.values() ?? [])].filter(
        ({ uid }) => this.#awaited.has(uid) && !ongoing.waitingUids.has(uid),
      ),
    );
    return leaving.length > 0 && this.stillFits(ongoing, leaving) ? leaving : undefined;
  }

  /** Returns a number that grows with each change of a node of the plan that Filter may read. */
  generationOf({ nominations }: PlanReservations): number {
    const { cluster } = this.#intake;
    return nominations.reduce(
      (latest, { nodeName }) => Math.max(latest, cluster.node(nodeName)?.generation ?? Infinity),
      0,
    );
  }

  /** Undefined: that cannot be checked. */
  #fits({ schedulingEntity, plan, waitingUids }: ReservedPlan, leaving: readonly Pod[]): boolean | undefined {
    const { cluster, dryRuns, profiles } = this.#intake;
    const nominations = plan.nominations.flatMap(({ pod: { uid }, nodeName }) => {
      const pod = cluster.openPod(uid);
      // Like its reservations, each member has the priority of the plan: it must not rely on capacity that is reserved with more.
      return pod === undefined ? [] : [{ pod: { ...pod, priority: Math.min(pod.priority, plan.priority) }, nodeName }];
    });
    const without = [...[...waitingUids].flatMap((uid) => cluster.pod(uid) ?? []), ...leaving];
    // The entity's own attempt, which follows, ignores them too.
    const ignoresBackfillOf = this.#turnsIgnoredBy(entityKeyOf(schedulingEntity));
    const profile = profiles.of(schedulingEntity);
    try {
      const options = { without, ignoresBackfillOf };
      return dryRuns.rejectionOf(profile, schedulingEntity, nominations, options) === undefined;
    } catch (error) {
      this.#logger.warn('could not check a reserved plan', { entity: nameOf(schedulingEntity), error: toError(error) });
      return undefined;
    }
  }
}
