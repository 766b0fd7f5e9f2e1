const byName = [
  ...['containers', 'initContainers', 'ephemeralContainers', 'volumes', 'env', 'imagePullSecrets', 'schedulingGates'],
  ...['resourceClaims', 'resourceClaimStatuses', 'secrets', 'drivers'],
];

/**
 * Name of a list field of built-in objects, with its model where that matters -> the field that tells its elements apart in a strategic merge patch; empty for lists of
 * scalars, which are merged as sets. All other lists are replaced. From the `patchMergeKey` tags of the types in k8s.io/api.
 */
export const mergeKeys: ReadonlyMap<string, string> = new Map([
  ...byName.map((field): [string, string] => [field, 'name']),
  ['ports', 'containerPort'],
  ['V1ServiceSpec.ports', 'port'],
  ['volumeMounts', 'mountPath'],
  ['volumeDevices', 'devicePath'],
  ['hostAliases', 'ip'],
  ['hostIPs', 'ip'],
  ['podIPs', 'ip'],
  ['topologySpreadConstraints', 'topologyKey'],
  ['conditions', 'type'],
  ['addresses', 'type'],
  ['ownerReferences', 'uid'],
  ['finalizers', ''],
  ['podCIDRs', ''],
]);

/** Names of the fields of built-in objects that are quantities, or maps of quantities, which the client library calls plain strings. */
export const quantityFields: ReadonlySet<string> = new Set([
  ...['capacity', 'allocatable', 'limits', 'requests', 'overhead', 'allocatedResources'],
  ...['sizeLimit', 'divisor', 'maximumVolumeSize'],
]);

/** Names of the texts of built-in objects that mean something else when they are empty than when they are absent. */
export const emptyTextFields: ReadonlySet<string> = new Set([
  ...['storageClassName', 'volumeAttributesClassName', 'holderIdentity'],
]);
