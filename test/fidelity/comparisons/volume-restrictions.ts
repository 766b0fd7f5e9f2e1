import { questionsOf } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import type { ApiObject } from '../question.ts';
import { withChanges } from './other-pods.ts';
import { podWithVolumes, storageNode, storageObjects } from './storage.ts';

const placed = podWithVolumes({ often: 2, ephemeral: 1 });

/**
 * kube-scheduler skips a pod whose claims are unused, and then ignores added pods. It subtracts a pod's volumes from a count to which each
 * claim in use adds one. For added pods it compares the claim's name regardless of the namespace, and it ignores pods on unknown nodes.
 * Tutti counts the users of each claim.
 */
const exactUse: DeliberateDifference = {
  name: 'users-of-a-claim-are-counted',
  explains: ({ where, tutti }, { question: { added = [], removed = [], pod, pods, objects = [] } }) => {
    if (!where.startsWith('Filter of ')) return false;
    const wanted = claimsOf(pod).filter((claim) => isForOnePod(objects, namespaceOf(pod.metadata), claim));
    const isThere = [...pods.filter(({ metadata }) => !removed.includes(uidOf(metadata))), ...added].some((other) => {
      const isSame = namespaceOf(other.metadata) === namespaceOf(pod.metadata);
      return isSame && claimsOf(other).some((claim) => wanted.includes(claim));
    });
    const isTaken = tutti.includes('ReadWriteOncePod');
    return isTaken ? isThere : added.length + removed.length > 0 && wanted.length > 0 && !isThere;
  },
};

function claimsOf({ spec }: ApiObject): readonly string[] {
  const { volumes = [] } = spec as {
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  };
  return volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

function isForOnePod(objects: readonly ApiObject[], namespace: string, claim: string): boolean {
  return objects.some(({ kind, metadata, spec }) => {
    if (kind !== 'PersistentVolumeClaim' || namespaceOf(metadata) !== namespace) return false;
    const { name } = metadata as { readonly name: string };
    const { accessModes } = spec as { readonly accessModes?: readonly string[] };
    return name === claim && accessModes?.includes('ReadWriteOncePod') === true;
  });
}

function uidOf(metadata: unknown): string {
  return (metadata as { readonly uid: string }).uid;
}

function namespaceOf(metadata: unknown): string {
  return (metadata as { readonly namespace: string }).namespace;
}

export const volumeRestrictions: PluginComparison = {
  plugin: 'VolumeRestrictions',
  differences: [exactUse],
  questions: withChanges(
    questionsOf({
      plugin: 'VolumeRestrictions',
      node: storageNode,
      pod: podWithVolumes({ often: 5, ephemeral: 1 }),
      placed,
      objects: storageObjects({ bound: 5, hasOldClasses: true }),
    }),
    placed,
  ),
};
