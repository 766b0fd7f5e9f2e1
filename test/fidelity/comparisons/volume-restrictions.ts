import { questionsOf } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import type { ApiObject } from '../question.ts';
import { withChanges } from './other-pods.ts';
import { podWithVolumes, storageNode, storageObjects } from './storage.ts';

const placed = podWithVolumes({ often: 2, ephemeral: 1 });

/**
 * kube-scheduler skips a pod whose claims nobody uses, and does not see then who comes; it takes a pod's volumes off a count to which
 * each claim, whoever uses it, adds one; it goes by the claim's name, whatever namespace it is in, for who comes; and it does not see pods
 * on nodes that it does not know. Tutti counts who uses the claims.
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
