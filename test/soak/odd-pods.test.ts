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

describe('Pods, groups and nodes with unique names that come and go', () => {
  it('are scheduled, and leave nothing countable behind', async () => {
    await odd.run(400);
    expect((await odd.kept).bindings).toBeGreaterThan(50);
    await odd.calm();
    const once = await odd.kept;
    expect([once.objects, once.pods]).toEqual([20, 0]);
    await odd.run(400);
    await odd.calm();
    // About 150 pods with 300 names each have existed.
    let names = Infinity;
    await collectGarbage(() => {
      void odd.kept.then(({ resourceNames }) => (names = resourceNames));
      return names <= commonResources;
    });
    const twice = await odd.kept;
    expect([twice.objects, twice.pods]).toEqual([20, 0]);
    // Metric labels have few possible values.
    expect(twice.metricLines).toBeLessThanOrEqual(1.2 * once.metricLines);
  });
});
