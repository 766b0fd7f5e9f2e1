import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { ClassReport, EquivalenceClass } from '../../queue/equivalence/equivalence-class.ts';
import type { Failure } from '../../queue/failure.ts';
import type { BindingPlan } from '../binding/binding-plan.ts';
import type { ExtenderRequest } from '../extenders/extenders.ts';
import type { Preemption } from '../preemption/preemptions.ts';

/** How one attempt ended. */
export type CycleResult =
  /** Nothing is left to place: a group whose quorum stands, a pod that is bound or gone. */
  | { readonly kind: 'settled' }
  /** PreEnqueue rejects it now. */
  | { readonly kind: 'notReady' }
  /** The plugins agree; extenders have to be asked before anything is assumed. */
  | { readonly kind: 'asking'; readonly requests: readonly ExtenderRequest[] }
  /** All that was needed is assumed; to be bound. */
  | { readonly kind: 'planned'; readonly plan: BindingPlan }
  /** A plugin that rejected it before is certain that it would again: what it was told holds. */
  | { readonly kind: 'ruledOut'; readonly pods: readonly Pod[]; readonly failure: Failure }
  /** It was not tried and joins this equivalence class, whose rejection is its own. */
  | { readonly kind: 'joined'; readonly joined: EquivalenceClass; readonly pods: readonly Pod[] }
  /** Nothing is assumed; the verdict is for all `pods`. */
  | {
      readonly kind: 'rejected';
      readonly pods: readonly Pod[];
      readonly verdict: Verdict;
      readonly failure: Failure;
      /** Room that PostFilter found a way to make. */
      readonly preemption: Preemption | undefined;
      /** The verdict for others of its equivalence class; undefined: it shares none. */
      readonly verdictFor?: ClassReport['verdictFor'] | undefined;
    };

/** A result with which the entity waits for an event. */
export type Rejected = Extract<CycleResult, { kind: 'rejected' }>;
