const byName = [
  ...['containers', 'initContainers', 'ephemeralContainers', 'volumes', 'env', 'imagePullSecrets', 'schedulingGates'],
  ...['resourceClaims', 'resourceClaimStatuses', 'secrets', 'drivers'],
];

/**
 * List field of built-in objects, with its model if fields of that name differ -> its merge key in a strategic merge patch. The key
 * is empty for lists of scalars, which are merged as sets. Patches replace all other lists. From the `patchMergeKey` tags in k8s.io/api.
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

/** Fields of built-in objects that hold quantities or maps of quantities. The client library types them as strings. */
export const quantityFields: ReadonlySet<string> = new Set([
  ...['capacity', 'allocatable', 'limits', 'requests', 'overhead', 'allocatedResources'],
  ...['sizeLimit', 'divisor', 'maximumVolumeSize'],
]);

/** String fields of built-in objects for which empty differs from absent. */
export const emptyTextFields: ReadonlySet<string> = new Set([
  ...['storageClassName', 'volumeAttributesClassName', 'holderIdentity'],
]);
