/**
 * Kubelet features that a pod can require and not every kubelet has, by their names in `status.declaredFeatures`, in order. Other
 * declared features concern changes to running pods, not scheduling.
 */
export const schedulingFeatures = [
  'RestartAllContainersOnContainerExits',
  'UserNamespacesHostNetworkSupport',
  'VolumeBindMountOptions',
] as const;

export type NodeFeature = (typeof schedulingFeatures)[number];

interface RawContainer {
  readonly restartPolicyRules?: readonly { readonly action?: string }[] | null;
  readonly volumeMounts?: readonly { readonly bindMountOptions?: readonly string[] | null }[] | null;
}

type RawContainers = readonly RawContainer[] | null;

/** The parts of a pod spec that can require such a feature. */
export interface RawFeatureSpec {
  readonly containers?: RawContainers;
  readonly initContainers?: RawContainers;
  readonly ephemeralContainers?: RawContainers;
  readonly hostNetwork?: boolean;
  readonly hostUsers?: boolean | null;
}

/** Shared empty list: most pods require no feature, and most nodes declare none. */
export const noFeatures: readonly NodeFeature[] = Object.freeze([]);

/** Returns the features that a pod requires, in order, by the rules of Kubernetes 1.37 (k8s.io/component-helpers/nodedeclaredfeatures). */
export function neededFeatures(spec: RawFeatureSpec): readonly NodeFeature[] {
  const { containers, initContainers, ephemeralContainers, hostNetwork = false, hostUsers } = spec;
  const restartsAll = someContainer([containers, initContainers], ({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
  const mountsWithOptions = someContainer([containers, initContainers, ephemeralContainers], ({ volumeMounts }) =>
    volumeMounts?.some(({ bindMountOptions }) => (bindMountOptions?.length ?? 0) > 0),
  );
  const mapsUsersOfHostNetwork = hostNetwork && hostUsers === false;
  if (!restartsAll && !mountsWithOptions && !mapsUsersOfHostNetwork) return noFeatures;
  const needs: Readonly<Record<NodeFeature, boolean>> = {
    RestartAllContainersOnContainerExits: restartsAll,
    UserNamespacesHostNetworkSupport: mapsUsersOfHostNetwork,
    VolumeBindMountOptions: mountsWithOptions,
  };
  return schedulingFeatures.filter((feature) => needs[feature]);
}

/** Returns the declared features that a pod can require, in order. */
export function knownFeatures(declared: readonly string[] | null | undefined): readonly NodeFeature[] {
  if (declared === undefined || declared === null || declared.length === 0) return noFeatures;
  const known = schedulingFeatures.filter((feature) => declared.includes(feature));
  return known.length === 0 ? noFeatures : known;
}

function someContainer(
  lists: readonly (RawContainers | undefined)[],
  matches: (container: RawContainer) => boolean | undefined,
): boolean {
  for (const list of lists) if (list?.some((container) => matches(container) === true) === true) return true;
  return false;
}
