import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';
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

export const volumeBinding: PluginComparison = {
  plugin: 'VolumeBinding',
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
