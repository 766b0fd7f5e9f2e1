import { safeName } from '../base/safe-text.ts';

/** Label or annotation key that makes a pod a member of the PodGroup in its value, in the pod's namespace. */
export const podGroupLabel = 'scheduling.x-k8s.io/pod-group';

/** A pod whose label and annotation name different groups. */
export interface MembershipDisagreement {
  /** The group in the label. The label wins. */
  readonly label: string;
  readonly annotation: string;
}

export interface PodGroupMembership {
  readonly name: string;
  readonly disagreement?: MembershipDisagreement;
}

type Keyed = Readonly<Record<string, string>> | undefined;

/**
 * Returns the PodGroup that a pod names, whether or not the group exists, or undefined for a pod without a group. The label wins over the
 * annotation. An empty value counts as absent. An annotation can hold any text: one that is not a valid name becomes safe to show and short,
 * and stays no valid name.
 */
export function podGroupNameOf(labels: Keyed, annotations: Keyed): PodGroupMembership | undefined {
  const label = safeName(labels?.[podGroupLabel] ?? '');
  const annotation = safeName(annotations?.[podGroupLabel] ?? '');
  if (label === '') return annotation === '' ? undefined : { name: annotation };
  if (annotation === '' || annotation === label) return { name: label };
  return { name: label, disagreement: { label, annotation } };
}
