import { safeMessage } from '../base/safe-text.ts';
import { toKubernetesTime } from './kubernetes-time.ts';

/** Kubernetes' metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, never empty. */
  readonly reason: string;
  /** For people. Can be empty. */
  readonly message: string;
  /** Time of the last change of `status`: RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  /** metadata.generation of the object from which the condition was derived. */
  readonly observedGeneration?: number;
}

/** A derived condition without its transition time. */
export type ConditionState = Omit<Condition, 'lastTransitionTime'>;

/**
 * Returns the list that replaces `previous`: the given states in order, then the previous conditions of other types, which other writers
 * own. A transition time stays while type and status stay the same; otherwise it is `now`. Messages become safe to show. Equal input gives
 * an equal list, so the caller can skip the write if nothing changed.
 */
export function mergeConditions(
  previous: readonly Condition[],
  states: readonly ConditionState[],
  now: number,
): readonly Condition[] {
  const merged = states.map((state): Condition => {
    const before = previous.find((condition) => condition.type === state.type);
    const lastTransitionTime = before?.status === state.status ? before.lastTransitionTime : toKubernetesTime(now);
    return { ...state, message: safeMessage(state.message), lastTransitionTime };
  });
  const foreign = previous.filter((condition) => !states.some((state) => state.type === condition.type));
  return [...merged, ...foreign];
}
