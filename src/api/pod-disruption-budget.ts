import type { LabelSelector } from './label-selector.ts';
import type { ListedMetadata } from './listed-metadata.ts';

/** What preemption reads of a policy/v1 PodDisruptionBudget. */
export interface PodDisruptionBudget {
  readonly kind: 'PodDisruptionBudget';
  readonly namespace: string;
  readonly name: string;
  /** Undefined selects no pod. */
  readonly selector: LabelSelector | undefined;
  /** How many evictions the budget allows now. */
  readonly disruptionsAllowed: number;
  /** Names of pods whose evictions are already counted. */
  readonly disruptedPods: readonly string[];
}

interface RawPodDisruptionBudget {
  readonly metadata: ListedMetadata;
  readonly spec?: { readonly selector?: LabelSelector | null };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly disruptedPods?: Readonly<Record<string, string>> | null;
  };
}

export function projectPodDisruptionBudget(input: unknown): PodDisruptionBudget {
  const { metadata, spec, status } = input as RawPodDisruptionBudget;
  return {
    kind: 'PodDisruptionBudget',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    selector: spec?.selector ?? undefined,
    disruptionsAllowed: status?.disruptionsAllowed ?? 0,
    disruptedPods: Object.keys(status?.disruptedPods ?? {}),
  };
}
