import * as fc from 'fast-check';
import { fields, maybe, questionsOf } from '../arbitraries.ts';
import type { PluginComparison } from '../plugin-comparison.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const names = fc.constantFrom(
  'nginx',
  'nginx:latest',
  'nginx:1.29',
  'docker.io/library/nginx:latest',
  'registry.example/app',
  'registry.example/app:latest',
  'registry.example/app:2',
  'registry.example:5000/app',
  'registry.example:5000/app:latest',
  'registry.example:5000/app:2',
  `registry.example/app@${digest}`,
  `registry.example:5000/app@${digest}`,
  '',
);
const megabyte = 1024 * 1024;
const size = fc.oneof(
  fc.constantFrom(0, 1, 23 * megabyte - 1, 23 * megabyte, 23 * megabyte + 1, 1000 * megabyte, 1001 * megabyte),
  fc.integer({ min: 0, max: 3000 * megabyte }),
  fc.integer({ min: 0, max: 200_000 * megabyte }),
);

const image = fields({ names: maybe(fc.array(names, { maxLength: 4 }), 9), sizeBytes: maybe(size, 9) });

function containers(minLength: number): fc.Arbitrary<readonly object[]> {
  const container = fields({ image: maybe(names, 9) });
  return fc
    .array(container, { minLength, maxLength: 4 })
    .map((list) => list.map((each, index) => ({ name: `c${index}`, ...each })));
}

const volume = fc.oneof(
  fields({ reference: maybe(names, 9) }).map((source) => ({ name: 'image', image: source })),
  fc.constant({ name: 'scratch', emptyDir: {} }),
);

export const imageLocality: PluginComparison = {
  plugin: 'ImageLocality',
  questions: questionsOf({
    plugin: 'ImageLocality',
    node: fields({ images: maybe(fc.array(image, { maxLength: 6 }), 9) }).map((status) => ({ status })),
    pod: fields({
      containers: containers(1),
      initContainers: maybe(containers(0), 4),
      volumes: maybe(fc.array(volume, { maxLength: 3 }), 3),
    }).map((spec) => ({ spec })),
  }),
};
