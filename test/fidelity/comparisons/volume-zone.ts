import { questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';
import { podWithVolumes, storageNode, storageObjects } from './storage.ts';

export const volumeZone: PluginComparison = {
  plugin: 'VolumeZone',
  questions: questionsOf({
    plugin: 'VolumeZone',
    node: storageNode,
    pod: podWithVolumes({ often: 9, ephemeral: 1 }),
    objects: storageObjects({ bound: 8, hasOldClasses: true }),
  }),
};
