import { maxNameLength, safeName } from '../base/safe-text.ts';
import { groupKeyOf } from './group-key.ts';

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

/** What a pod says about its groups. */
export interface MembershipFields {
  readonly namespace: string;
  readonly labels: Keyed;
  readonly annotations: Keyed;
  readonly schedulingGroup: { readonly podGroupName?: string } | null | undefined;
}

export interface GroupMembership {
  /** The group that schedules the pod, whether or not it exists; see `groupKeyOf`. */
  readonly key: string;
  /** The group in spec.schedulingGroup, if the label or annotation names another one. */
  readonly otherKey?: string;
  readonly disagreement?: MembershipDisagreement;
}

/**
 * Returns the groups that a pod names in either API; undefined if it names none. The label, or the annotation, of `scheduling.x-k8s.io` wins over
 * spec.schedulingGroup, because controllers of Kubernetes set the latter on their own.
 */
export function podGroupMembershipOf(pod: MembershipFields): GroupMembership | undefined {
  const { namespace } = pod;
  const labeled = podGroupNameOf(pod.labels, pod.annotations);
  const nativeKey = nativeGroupKeyOf(pod);
  if (labeled === undefined) return nativeKey === undefined ? undefined : { key: nativeKey };
  const { name, disagreement } = labeled;
  return {
    key: groupKeyOf('scheduling.x-k8s.io', namespace, name),
    ...(nativeKey !== undefined && { otherKey: nativeKey }),
    ...(disagreement !== undefined && { disagreement }),
  };
}

/** Returns the key of the group in spec.schedulingGroup, whether or not it exists; undefined without one. */
export function nativeGroupKeyOf({
  namespace,
  schedulingGroup,
}: Pick<MembershipFields, 'namespace' | 'schedulingGroup'>): string | undefined {
  const name = safeName(schedulingGroup?.podGroupName ?? '');
  return name === '' ? undefined : groupKeyOf('scheduling.k8s.io', namespace, name);
}

/** A label or annotation that was probably meant to be `podGroupLabel`. */
export interface LookAlike {
  readonly key: string;
  /** Its value: maybe the name of a PodGroup. */
  readonly name: string;
  readonly isAnnotation: boolean;
}

/** Keys of other gang schedulers, and misspelled ones: `scheduling.k8s.io/pod-group`, `scheduling.x-k8s.io/podgroup`. */
const lookAlikeKey = /pod[-_.]?group|^scheduling\.[^/]+\/|\/group-name$/i;
const noLookAlikes: readonly never[] = Object.freeze([]);
const maxLookAlikes = 8;

/**
 * Returns the labels and annotations of a pod without a group that the user may have meant to make it a member. The caller decides by
 * their values.
 */
export function lookAlikesOf(labels: Keyed, annotations: Keyed): readonly LookAlike[] {
  let found: LookAlike[] | undefined;
  for (const keyed of [labels, annotations]) {
    for (const key in keyed) {
      const name = keyed[key]!;
      if (key === podGroupLabel || name === '' || name.length > maxNameLength || !lookAlikeKey.test(key)) continue;
      found ??= [];
      if (found.length === maxLookAlikes) return found;
      found.push({ key, name, isAnnotation: keyed === annotations });
    }
  }
  return found ?? noLookAlikes;
}

/**
 * Keys by which pods name a group of another gang scheduler, and common misspellings. Each is wrong for a pod that Tutti schedules, whatever its
 * value. Sources: scheduler-plugins before `scheduling.x-k8s.io` (v0.18 with `/name`, later without), kube-batch and Volcano
 * (`KubeGroupNameAnnotationKey`, `VolcanoGroupNameAnnotationKey`), and KAI (`PodGroupAnnotationForPod`). Kueue's `kueue.x-k8s.io/pod-group-name`
 * is none: Kueue admits pods that Tutti then schedules.
 */
export const keysOfOtherSchedulers: readonly string[] = [
  'pod-group.scheduling.sigs.k8s.io',
  'pod-group.scheduling.sigs.k8s.io/name',
  'scheduling.sigs.k8s.io/pod-group',
  'scheduling.k8s.io/pod-group',
  'scheduling.x-k8s.io/podgroup',
  'scheduling.x-k8s.io/pod-group-name',
  'scheduling.k8s.io/group-name',
  'scheduling.volcano.sh/group-name',
  'volcano.sh/group-name',
  'pod-group-name',
];

/** Returns the first key of another gang scheduler, or misspelled one, of a pod without a group. */
export function keyOfOtherScheduler(labels: Keyed, annotations: Keyed): string | undefined {
  if (labels === undefined && annotations === undefined) return undefined;
  return keysOfOtherSchedulers.find((key) => (labels?.[key] ?? annotations?.[key] ?? '') !== '');
}

/**
 * Says what is wrong with the pods, what follows and what to do: one sentence without a period, shared by the controller and `tutti up`.
 * `which`: `of Job train` or `such as train-0`.
 */
export function describeLookAlike(which: string, { key, name, isAnnotation }: LookAlike): string {
  const what = `the ${isAnnotation ? 'annotation' : 'label'} ${key}=${name} instead of ${podGroupLabel}=${name}`;
  return `pods ${which} have ${what}, so they start one by one; correct the key`;
}
