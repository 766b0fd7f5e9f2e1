import { expect, it } from 'vitest';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Queueing } from '../../../testkit/queueing.ts';

it('finds the lowest possible priority for members that must not all share the cheapest node', () => {
  const core = new Queueing({ plugins: defaultPlugins });
  const small = Array.from({ length: 7 }, (_, i) => `s${i}`);
  const running = (nodeName: string, size: string, cpu: number, priority: number): void => {
    core.node({ name: nodeName, cpu, labels: { 'kubernetes.io/hostname': nodeName, size } });
    core.pod({ name: `on-${nodeName}`, cpu, priority, nodeName });
  };
  for (const name of ['a', 'b']) running(name, 'large', 9, 0);
  for (const name of small) running(name, 'small', 1, 500);
  // At most 5 on a node. But the scheduler prefers one on each.
  const preference = { matchExpressions: [{ key: 'size', operator: 'In', values: ['small'] }] };
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] };
  const spread = {
    maxSkew: 5,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'x' } },
  };
  core.group({ name: 'x', minMember: 9 });
  core.members(9, {
    ...{ group: 'x', cpu: 1, priority: 1000, labels: { app: 'x' } },
    spec: { affinity: { nodeAffinity }, topologySpreadConstraints: [spread] },
  });
  core.harness.core.attempt();
  expect(core.harness.preempted.map((text) => text.split(' ')[0]).sort()).toEqual(['on-a', 'on-b']);
});
