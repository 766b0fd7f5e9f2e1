import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import type { ApiObject } from '../question.ts';
import { podWithVolumes, storageNode, storageObjects } from './storage.ts';

const point = fields({
  utilization: fc.constantFrom(0, 10, 25, 50, 75, 100),
  score: fc.integer({ min: 0, max: 10 }),
});
const shape = fc
  .uniqueArray(point, { minLength: 1, maxLength: 4, selector: ({ utilization }) => utilization })
  .map((points) => points.toSorted((a, b) => Number(a.utilization) - Number(b.utilization)));
const args = maybe(
  fields({ bindTimeoutSeconds: maybe(fc.constantFrom(0, 30)), shape: maybe(shape, 8) }).map((all): ApiObject => all),
  4,
);

/**
 * Where the volume that is kept for a claim cannot be reached kube-scheduler has another made for it, which nobody binds it to: the claim
 * gets the one that is kept.
 */
const keptVolumes: DeliberateDifference = {
  name: 'a-kept-volume-is-not-made-again',
  explains: ({ where, tutti }, { question: { objects = [], pod } }) => {
    if (!where.startsWith('Filter of ') || !tutti.includes("didn't find available persistent volumes")) return false;
    const { volumes = [] } = pod.spec as {
      readonly volumes?: readonly {
        readonly name: string;
        readonly persistentVolumeClaim?: { readonly claimName: string };
      }[];
    };
    const { namespace, name } = pod.metadata as { readonly namespace: string; readonly name: string };
    const claims = volumes.map(({ name: own, persistentVolumeClaim: its }) => its?.claimName ?? `${name}-${own}`);
    return objects.some(({ kind, spec }) => {
      const { claimRef } = (spec ?? {}) as {
        readonly claimRef?: { readonly namespace: string; readonly name: string };
      };
      return kind === 'PersistentVolume' && claimRef?.namespace === namespace && claims.includes(claimRef.name);
    });
  },
};

export const volumeBinding: PluginComparison = {
  plugin: 'VolumeBinding',
  differences: [keptVolumes],
  questions: questionsOf({
    plugin: 'VolumeBinding',
    args,
    node: storageNode,
    pod: podWithVolumes({ often: 9, ephemeral: 1 }),
    objects: fc.oneof(
      storageObjects({ bound: 4, hasOldClasses: false }),
      storageObjects({ bound: 1, hasOldClasses: false, isPlain: true }),
    ),
  }),
};
