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
    await odd.run(600);
    const busy = await odd.kept;
    expect(busy.bindings).toBeGreaterThan(50);
    // Those of many pods that have gone are forgotten already: in all there were far more.
    expect(busy.resourceNames).toBeGreaterThan(commonResources);
    await odd.calm();
    const calm = await odd.kept;
    expect([calm.objects, calm.pods]).toEqual([20, 0]);
    let names = calm.resourceNames;
    await collectGarbage(() => {
      void odd.kept.then(({ resourceNames }) => (names = resourceNames));
      return names <= commonResources + 310; // of the pod that was asked about last something may be kept
    });
    await odd.run(600);
    await odd.calm();
    // What metrics are labelled with are kinds of things, of which there are few.
    expect((await odd.kept).metricLines).toBeLessThanOrEqual(calm.metricLines + 20);
  });
});
