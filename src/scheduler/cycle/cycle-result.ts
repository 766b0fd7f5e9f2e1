import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { ClassReport, EquivalenceClass } from '../../queue/equivalence/equivalence-class.ts';
import type { Failure } from '../../queue/failure.ts';
import type { PredictedTurn } from '../backfill/turn.ts';
import type { BindingPlan } from '../binding/binding-plan.ts';
import type { ExtenderRequest } from '../extenders/extenders.ts';
import type { Preemption } from '../preemption/preemptions.ts';

/** The result of one attempt. */
export type CycleResult =
  /** Nothing is left to place: the group has its quorum, or the pod is bound or gone. */
  | { readonly kind: 'settled' }
  /** PreEnqueue rejects the entity now. */
  | { readonly kind: 'notReady' }
  /** The plugins agree. The scheduler must call the extenders before it assumes any pod. */
  | { readonly kind: 'asking'; readonly requests: readonly ExtenderRequest[] }
  /** All needed members are assumed and must now be bound. */
  | { readonly kind: 'planned'; readonly plan: BindingPlan }
  /** A plugin that rejected the entity before is certain to reject it again. The last verdict stays valid. */
  | { readonly kind: 'ruledOut'; readonly pods: readonly Pod[]; readonly failure: Failure }
  /** The entity was not tried. It joins this equivalence class and takes over its rejection. */
  | { readonly kind: 'joined'; readonly joined: EquivalenceClass; readonly pods: readonly Pod[] }
  /** No pod is assumed; the verdict applies to all `pods`. */
  | {
      readonly kind: 'rejected';
      readonly pods: readonly Pod[];
      readonly verdict: Verdict;
      readonly failure: Failure;
      /** The way to free capacity that PostFilter found. */
      readonly preemption: Preemption | undefined;
      /** The result of a prediction of its start. Absent: there was none. */
      readonly predicted?: { readonly turn: PredictedTurn | undefined } | undefined;
      /** Returns the verdict for other entities of the equivalence class; undefined: the rejection is not shared. */
      readonly verdictFor?: ClassReport['verdictFor'] | undefined;
    };

/** A result after which the entity waits for an event. */
export type Rejected = Extract<CycleResult, { kind: 'rejected' }>;

/** An attempt whose plan was not bound; see SchedulerCore.rehearse. */
export interface Rehearsed {
  readonly schedulingEntity: SchedulingEntity;
  readonly result: Exclude<CycleResult, { kind: 'asking' }>;
}
