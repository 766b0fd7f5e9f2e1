/** The key that makes a pod a member of the PodGroup it names, in the pod's namespace: as a label, or as an annotation. */
export const podGroupLabel = 'scheduling.x-k8s.io/pod-group';

/** A pod whose label and annotation name different groups. */
export interface MembershipDisagreement {
  /** What the label names: this one counts. */
  readonly label: string;
  readonly annotation: string;
}

export interface PodGroupMembership {
  readonly name: string;
  readonly disagreement?: MembershipDisagreement;
}

type Keyed = Readonly<Record<string, string>> | undefined;

/**
 * The PodGroup that a pod names, whether or not it exists; undefined for a pod of its own. The label wins over the
 * annotation. An empty value names nothing.
 */
export function podGroupNameOf(labels: Keyed, annotations: Keyed): PodGroupMembership | undefined {
  const label = labels?.[podGroupLabel] ?? '';
  const annotation = annotations?.[podGroupLabel] ?? '';
  if (label === '') return annotation === '' ? undefined : { name: annotation };
  if (annotation === '' || annotation === label) return { name: label };
  return { name: label, disagreement: { label, annotation } };
}
