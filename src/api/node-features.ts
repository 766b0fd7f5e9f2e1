/**
 * What a pod may need of its node's kubelet that not every kubelet can do, by the names under which nodes declare it
 * (`status.declaredFeatures`), in order. Others that nodes declare have to do with pods that are changed while they run, not with
 * where they go.
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

/** The parts of a pod's spec that need such a feature. */
export interface RawFeatureSpec {
  readonly containers?: RawContainers;
  readonly initContainers?: RawContainers;
  readonly ephemeralContainers?: RawContainers;
  readonly hostNetwork?: boolean;
  readonly hostUsers?: boolean | null;
}

/** Most pods need none, and most nodes declare none: they share this one. */
export const noFeatures: readonly NodeFeature[] = Object.freeze([]);

/** What the pod needs, by the rules of Kubernetes 1.37 (k8s.io/component-helpers/nodedeclaredfeatures); in order. */
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

/** Those of the features that a node declares which some pod may need; in order. */
export function knownFeatures(declared: readonly string[] | null | undefined): readonly NodeFeature[] {
  if (declared === undefined || declared === null || declared.length === 0) return noFeatures;
  const known = schedulingFeatures.filter((feature) => declared.includes(feature));
  return known.length === 0 ? noFeatures : known;
}

function someContainer(
  lists: readonly (RawContainers | undefined)[],
  isSuch: (container: RawContainer) => boolean | undefined,
): boolean {
  for (const list of lists) if (list?.some((container) => isSuch(container) === true) === true) return true;
  return false;
}
