import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';

/** How a strategic merge patch treats one field of a built-in object. */
export interface PatchField {
  /** Undefined for a field that the models do not know: its objects are merged, its lists replaced. */
  readonly type: ValueType | undefined;
  /** Lists only: whether a list in a patch is merged into the document's rather than replacing it. */
  readonly mergeList: boolean;
  /** The field that tells the objects of a merged list apart; absent for lists of scalars. */
  readonly mergeKey?: string;
}

/**
 * Lists that are merged: `Model.field` -> merge key, null for lists of scalars. The values of the `patchStrategy` and
 * `patchMergeKey` tags in k8s.io/api and k8s.io/apimachinery; every list not named here is replaced whole.
 */
export const mergedLists: ReadonlyMap<string, string | null> = new Map([
  ['V1Container.env', 'name'],
  ['V1Container.ports', 'containerPort'],
  ['V1Container.volumeDevices', 'devicePath'],
  ['V1Container.volumeMounts', 'mountPath'],
  ['V1ContainerStatus.allocatedResourcesStatus', 'name'],
  ['V1ContainerStatus.volumeMounts', 'mountPath'],
  ['V1EphemeralContainer.env', 'name'],
  ['V1EphemeralContainer.ports', 'containerPort'],
  ['V1EphemeralContainer.volumeDevices', 'devicePath'],
  ['V1EphemeralContainer.volumeMounts', 'mountPath'],
  ['V1JSONSchemaProps.x-kubernetes-validations', 'rule'],
  ['V1NamespaceStatus.conditions', 'type'],
  ['V1NodeSpec.podCIDRs', null],
  ['V1NodeStatus.addresses', 'type'],
  ['V1NodeStatus.conditions', 'type'],
  ['V1ObjectMeta.finalizers', null],
  ['V1ObjectMeta.ownerReferences', 'uid'],
  ['V1PodSpec.containers', 'name'],
  ['V1PodSpec.ephemeralContainers', 'name'],
  ['V1PodSpec.hostAliases', 'ip'],
  ['V1PodSpec.imagePullSecrets', 'name'],
  ['V1PodSpec.initContainers', 'name'],
  ['V1PodSpec.resourceClaims', 'name'],
  ['V1PodSpec.schedulingGates', 'name'],
  ['V1PodSpec.topologySpreadConstraints', 'topologyKey'],
  ['V1PodSpec.volumes', 'name'],
  ['V1PodStatus.conditions', 'type'],
  ['V1PodStatus.hostIPs', 'ip'],
  ['V1PodStatus.podIPs', 'ip'],
  ['V1PodStatus.resourceClaimStatuses', 'name'],
  ['V1ServiceAccount.secrets', 'name'],
]);

/** How a patch treats the field `name` of a value of type `owner`. */
export function patchField(owner: ValueType | undefined, name: string): PatchField {
  switch (owner?.kind) {
    case 'map':
      return { type: owner.element, mergeList: false };
    case 'model': {
      const type = modelFields(owner.name)?.get(name);
      const mergeKey = mergedLists.get(`${owner.name}.${name}`);
      if (mergeKey === undefined) return { type, mergeList: false };
      return mergeKey === null ? { type, mergeList: true } : { type, mergeList: true, mergeKey };
    }
    default:
      return { type: undefined, mergeList: false };
  }
}
