import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commonResources } from '../../src/api/resource-names.ts';
import { collectGarbage } from '../../src/base/testing/collect-garbage.ts';
import { OddPods } from './odd-pods.ts';

let odd: OddPods;

beforeEach(async () => {
  odd = new OddPods(1);
  await odd.start();
});

afterEach(() => odd.stop());

describe('pods, groups and nodes that come and go with names of their own', () => {
  it('are scheduled, and leave nothing behind that can be counted', async () => {
    await odd.run(400);
    expect((await odd.kept).bindings).toBeGreaterThan(50);
    await odd.calm();
    const once = await odd.kept;
    expect([once.objects, once.pods]).toEqual([20, 0]);
    await odd.run(400);
    await odd.calm();
    // There were some 150 pods with 300 names each.
    let names = Infinity;
    await collectGarbage(() => {
      void odd.kept.then(({ resourceNames }) => (names = resourceNames));
      return names <= commonResources;
    });
    const twice = await odd.kept;
    expect([twice.objects, twice.pods]).toEqual([20, 0]);
    // What metrics are labelled with are kinds of things, of which there are few.
    expect(twice.metricLines).toBeLessThanOrEqual(1.2 * once.metricLines);
  });
});
