import { toKubernetesTime } from './kubernetes-time.ts';

/** Kubernetes' metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, never empty. */
  readonly reason: string;
  /** For people; may be empty. */
  readonly message: string;
  /** RFC 3339, whole seconds. When `status` last changed. */
  readonly lastTransitionTime: string;
  /** metadata.generation of the object that the condition was derived from. */
  readonly observedGeneration?: number;
}

/** A condition as derived, before it is known since when it holds. */
export type ConditionState = Omit<Condition, 'lastTransitionTime'>;

/**
 * The list that replaces `previous`: the states in their order, each with the time when its status last changed (kept from
 * `previous` while type and status are the same, else `now`), then the previous conditions of other types, which somebody
 * else owns. Equal input gives an equal list, so that nothing is written when nothing changed.
 */
export function mergeConditions(
  previous: readonly Condition[],
  states: readonly ConditionState[],
  now: number,
): readonly Condition[] {
  const merged = states.map((state): Condition => {
    const before = previous.find((condition) => condition.type === state.type);
    const lastTransitionTime = before?.status === state.status ? before.lastTransitionTime : toKubernetesTime(now);
    return { ...state, lastTransitionTime };
  });
  const foreign = previous.filter((condition) => !states.some((state) => state.type === condition.type));
  return [...merged, ...foreign];
}
