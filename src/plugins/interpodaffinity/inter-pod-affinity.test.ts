import { expect, it } from 'vitest';
import { defaultPlugins } from '../registry.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';

const hostname = 'kubernetes.io/hostname';

/** A pod on the node that does not want those of these labels there. */
function unwanting(harness: CoreHarness, name: string, labelSelector: object): void {
  const antiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, labelSelector }] };
  const spec = { affinity: { podAntiAffinity: antiAffinity } } as NonNullable<PodOptions['spec']>;
  harness.pod({ name, nodeName: 'a', spec });
}

it('a label that nobody has read before makes no pod unwanted that does not have it', () => {
  const harness = new CoreHarness({ plugins: defaultPlugins });
  for (const name of ['a', 'b']) harness.node({ name });
  const fitting = (options: PodOptions): readonly string[] => {
    const { profile, planner, cluster } = harness;
    const [pod] = harness.pods(1, options);
    return cluster.nodes.map(({ name }) => {
      const transaction = cluster.begin();
      const within = new Set([name]);
      const { placed } = planner.plan(
        { profile, members: [pod!], needed: 1, groupState: new CycleState(), within },
        transaction,
      );
      transaction.rollback();
      return `${name} ${placed}`;
    });
  };
  unwanting(harness, 'first', { matchLabels: { app: 'c' } });
  expect(fitting({ name: 'with', labels: { app: 'c', tier: 'x' } })).toEqual(['a 0', 'b 1']);
  harness.cluster.removePod([...harness.cluster.pods()].find(({ name }) => name === 'first')!.uid);
  // Somebody still reads that label, elsewhere.
  harness.pod({
    name: 'second',
    spec: {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: hostname, labelSelector: { matchLabels: { app: 'c' } } } },
          ],
        },
      },
    },
  });
  unwanting(harness, 'third', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] });
  expect(fitting({ name: 'without', labels: { app: 'c' } })).toEqual(['a 1', 'b 1']);
  expect(fitting({ name: 'also-with', labels: { app: 'c', tier: 'x' } })).toEqual(['a 0', 'b 1']);
});
