import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ImageCensus } from './image-census.ts';
import type { ImageView } from './image-census.ts';

describe('ImageCensus', () => {
  it('counts a node once for an image, however often it names it', () => {
    const census = new ImageCensus();
    expect(
      census.replace(
        [],
        [
          { name: 'app:1', size: 5 },
          { name: 'app:1', size: 7 },
        ],
      ),
    ).toEqual([{ name: 'app:1', size: 5, nodes: 1 }]);
  });

  it('keeps the size that the first node said, until no node has the image', () => {
    const census = new ImageCensus();
    const first = census.replace([], [{ name: 'app:1', size: 5 }]);
    const second = census.replace([], [{ name: 'app:1', size: 7 }]);
    expect(census.image('app:1')).toMatchObject({ size: 5, nodes: 2 });
    census.replace(first, []);
    expect(census.image('app:1')).toMatchObject({ size: 5, nodes: 1 });
    census.replace(second, [{ name: 'app:1', size: 7 }]);
    expect(census.image('app:1')).toMatchObject({ size: 7, nodes: 1 });
  });

  it('knows after any changes what a count of the nodes finds', () => {
    const images = fc.array(
      fc.constantFrom('a', 'b', 'c', 'd').map((name) => ({ name, size: 1 })),
      { maxLength: 5 },
    );
    const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), images), { maxLength: 30 });
    fc.assert(
      fc.property(changes, (steps) => {
        const census = new ImageCensus();
        const nodes: (readonly ImageView[])[] = [[], [], [], []];
        for (const [node, now] of steps) nodes[node] = census.replace(nodes[node]!, now);
        for (const name of ['a', 'b', 'c', 'd']) {
          const count = nodes.filter((has) => has.some((image) => image.name === name)).length;
          expect(census.image(name)?.nodes ?? 0).toBe(count);
          for (const has of nodes) {
            for (const image of has) expect(census.image(image.name)).toBe(image);
          }
        }
      }),
    );
  });
});
