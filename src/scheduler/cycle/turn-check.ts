import { parseGroupKey } from '../../api/group-key.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import { waitsBehind } from '../backfill/turn-texts.ts';
import type { Turn } from '../backfill/turn.ts';
import type { Turns } from '../backfill/turns.ts';
import type { NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import type { WaitCause } from './wait-cause.ts';

export interface TurnCheckOptions {
  readonly dryRuns: DryRuns;
  readonly clock: Pick<Clock, 'now'>;
  /** Absent: no profile reserves capacity until a predicted start. */
  readonly turns?: Turns | undefined;
}

/** Finds out whether only capacity that is reserved for entities ahead of it keeps an entity from starting. */
export class TurnCheck {
  readonly #options: TurnCheckOptions;

  constructor(options: TurnCheckOptions) {
    this.#options = options;
  }

  /** Undefined: the entity would not fit without these reservations either. */
  *of(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    { pod, rejection }: Diagnosis,
    nodeSubsetOf: NodeSubsetOf | undefined,
    budget: WorkBudget,
  ): Yielding<WaitCause | undefined> {
    const { dryRuns, turns } = this.#options;
    if (turns?.hasAny !== true) return undefined;
    const isReserved =
      rejection.kind === 'nodes' &&
      rejection.rejections.some(({ status }) => status.details.some(({ code }) => code === 'ReservedForOther'));
    // The diagnosis does not cover members that are unlike its pod.
    if (!isReserved && !hasOtherMembers(schedulingEntity, pod)) return undefined;
    const without = { ignoresBackfillOf: () => true, nodeSubsetOf };
    const { fits, plan } = yield* dryRuns.steps(profile, schedulingEntity, without, budget);
    const turn = fits ? turns.inTheWayOf(entityKeyOf(schedulingEntity), plan) : undefined;
    return turn && { waitsFor: 'turn', noteFor: this.#noteOn(turn) };
  }

  #noteOn({ key, name, future }: Turn): (namespace: string) => string {
    const now = this.#options.clock.now();
    const stranger = key.startsWith('gang/') ? 'a group of another namespace' : 'a pod of another namespace';
    return (namespace) => {
      // The key of a pod has the form of the key of a group.
      const isOwn = parseGroupKey(name).namespace === namespace;
      return waitsBehind(isOwn ? name : stranger, future, now);
    };
  }
}

/** Returns whether unbound members of the entity have another template than the pod. */
function hasOtherMembers(schedulingEntity: SchedulingEntity, { template }: Pod): boolean {
  if (schedulingEntity.kind === 'pod') return false;
  for (const member of schedulingEntity.gang.pending.values()) if (member.template !== template) return true;
  return false;
}
