import { questionsOf } from '../arbitraries.ts';
import type { DeliberateDifference, PluginComparison } from '../plugin-comparison.ts';
import { podWithVolumes, storageNode, storageObjects } from './storage.ts';

/** If a volume of a pod on the node is invalid, kube-scheduler fails every pod. Tutti counts the valid volumes. */
const others: DeliberateDifference = {
  name: 'odd-volumes-of-others-do-not-fail',
  explains: ({ where, kubeScheduler }, { question: { pods } }) =>
    where.startsWith('Filter of ') &&
    kubeScheduler.startsWith('Error: ') &&
    pods.some(({ metadata, spec }) => {
      const { name, namespace } = metadata as { readonly name: string; readonly namespace: string };
      const { volumes = [] } = spec as { readonly volumes?: readonly { readonly name: string }[] };
      return (
        kubeScheduler.includes(` was not created for pod ${namespace}/${name} `) ||
        volumes.some((volume) => kubeScheduler.includes(`converting volume(${volume.name}) from inline`))
      );
    }),
};

export const nodeVolumeLimits: PluginComparison = {
  plugin: 'NodeVolumeLimits',
  differences: [others],
  questions: questionsOf({
    plugin: 'NodeVolumeLimits',
    node: storageNode,
    pod: podWithVolumes({ often: 8, ephemeral: 1 }),
    placed: podWithVolumes({ often: 8, ephemeral: 1 }),
    maxPlaced: 8,
    objects: storageObjects({ bound: 7, hasOldClasses: true }),
  }),
};
