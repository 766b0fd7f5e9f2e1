import { expect, it } from 'vitest';
import { defaultPlugins } from '../registry.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';

const hostname = 'kubernetes.io/hostname';

/** Returns a pod on the node with anti-affinity to pods with these labels. */
function unwanting(harness: CoreHarness, name: string, labelSelector: object): void {
  const antiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, labelSelector }] };
  const spec = { affinity: { podAntiAffinity: antiAffinity } } as NonNullable<PodOptions['spec']>;
  harness.pod({ name, nodeName: 'a', spec });
}

it('does not reject a pod because a new term reads a label that the pod lacks', () => {
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
  // Another pod elsewhere still has a term that reads the label.
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
