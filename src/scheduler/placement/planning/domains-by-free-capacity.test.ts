import { expect, it } from 'vitest';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { dryRun } from '../testing/planning.ts';

const beside = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'w' } } },
    ],
  },
};

/**
 * Returns the zones of a gang whose first member goes to a node too small for all. `names`: the nodes, in order of arrival.
 */
function zonesOf(names: readonly string[]): readonly string[] {
  const harness = new CoreHarness({ plugins: defaultPlugins });
  for (const name of names) harness.node({ name, cpu: name === 'alone' ? 5 : '3500m', labels: { zone: name[0]! } });
  const members = harness.pods(2, { name: 'w', cpu: 3, labels: { app: 'w' }, spec: { affinity: beside } });
  return dryRun(harness, members).assignments.map(({ nodeName }) => nodeName[0]!);
}

it('the order of two zones with equal free capacity does not depend on which nodes came first', () => {
  expect(zonesOf(['alone', 'y0', 'y1', 'z0', 'z1'])).toEqual(['y', 'y']);
  expect(zonesOf(['z0', 'z1', 'alone', 'y1', 'y0'])).toEqual(['y', 'y']);
});
