import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';
import { nodesByPod, trial } from '../testing/planning.ts';

const megabyte = 1024 * 1024;
const nodeNames = ['a', 'b', 'c', 'd', 'e'] as const;

const images = fc
  .uniqueArray(fc.constantFrom('app:1', 'app:2', 'tool:latest'), { maxLength: 3 })
  .chain((names) =>
    fc
      .array(fc.integer({ min: 0, max: 2000 }), { minLength: names.length, maxLength: names.length })
      .map((sizes) => Object.fromEntries(names.map((name, i) => [name, sizes[i]! * megabyte]))),
  );

/** A node comes or changes its images, or goes. */
const change = fc.record({ name: fc.constantFrom(...nodeNames), images: fc.option(images, { nil: undefined }) });

const container = fc.constantFrom('app:1', 'app:2', 'tool', 'unknown:1').map((image) => ({ name: 'main', image }));

it('whatever becomes of the images of nodes, members go where they go for one who sees it all for the first time', () => {
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 12 }),
      fc.array(container, { minLength: 1, maxLength: 3 }),
      (changes, containers) => {
        const picture = new Picture({ plugins: defaultPlugins });
        const members = picture.pods(3, { name: 'w', cpu: '100m', spec: { containers } });
        /** name -> images of the nodes that there are, in order of arrival */
        const nodes = new Map<string, Record<string, number>>();
        for (const { name, images: now } of changes) {
          if (now === undefined) {
            nodes.delete(name);
            picture.cluster.removeNode(name);
          } else {
            nodes.set(name, now);
            picture.node({ name, images: now });
          }
          const seen = nodesByPod(trial(picture, members));
          const other = new Picture({ plugins: defaultPlugins });
          for (const [at, had] of nodes) other.node({ name: at, images: sizesIn(picture, had) });
          const anew = nodesByPod(trial(other, other.pods(3, { name: 'w', cpu: '100m', spec: { containers } })));
          expect(Object.values(seen)).toEqual(Object.values(anew));
        }
      },
    ),
    { numRuns: 300 },
  );
});

/** The sizes that count: those that the first node said. */
function sizesIn({ cluster }: Picture, had: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.keys(had).map((name) => [name, cluster.images.image(name)!.size]));
}
