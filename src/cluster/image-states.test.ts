import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ImageStates } from './image-states.ts';
import type { ImageView } from './image-states.ts';

describe('ImageStates', () => {
  it('counts a node once per image, even if it lists the image twice', () => {
    const imageStates = new ImageStates();
    expect(
      imageStates.replace(
        [],
        [
          { name: 'app:1', size: 5 },
          { name: 'app:1', size: 7 },
        ],
      ),
    ).toEqual([{ name: 'app:1', size: 5, nodes: 1 }]);
  });

  it('keeps the size from the first node until no node has the image', () => {
    const imageStates = new ImageStates();
    const first = imageStates.replace([], [{ name: 'app:1', size: 5 }]);
    const second = imageStates.replace([], [{ name: 'app:1', size: 7 }]);
    expect(imageStates.image('app:1')).toMatchObject({ size: 5, nodes: 2 });
    imageStates.replace(first, []);
    expect(imageStates.image('app:1')).toMatchObject({ size: 5, nodes: 1 });
    imageStates.replace(second, [{ name: 'app:1', size: 7 }]);
    expect(imageStates.image('app:1')).toMatchObject({ size: 7, nodes: 1 });
  });

  it('agrees with a recount of the nodes after any changes', () => {
    const images = fc.array(
      fc.constantFrom('a', 'b', 'c', 'd').map((name) => ({ name, size: 1 })),
      { maxLength: 5 },
    );
    const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), images), { maxLength: 30 });
    fc.assert(
      fc.property(changes, (steps) => {
        const imageStates = new ImageStates();
        const nodes: (readonly ImageView[])[] = [[], [], [], []];
        for (const [node, now] of steps) nodes[node] = imageStates.replace(nodes[node]!, now);
        for (const name of ['a', 'b', 'c', 'd']) {
          const count = nodes.filter((has) => has.some((image) => image.name === name)).length;
          expect(imageStates.image(name)?.nodes ?? 0).toBe(count);
          for (const has of nodes) {
            for (const image of has) expect(imageStates.image(image.name)).toBe(image);
          }
        }
      }),
    );
  });
});
