import { expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import type { CoreHarness } from '../../../testkit/core-harness.ts';
import { dryRun, harnessWith, nodesByPod } from '../testing/planning.ts';

/** More resources than bin packing considers. */
const manyResources = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`example.com/r${i}`, 1]));

const inRoles = (...values: string[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'role', operator: 'In' as const, values }] }],
  },
});

interface Fixture {
  readonly harness: CoreHarness;
  readonly members: readonly Pod[];
}

/**
 * A gang that only fits if m0 to m3 are on n0 and m4 to m7 on n1: the scores spread them. Reserves capacity for four members on each of these
 * nodes, and n4 for `first` and n5 for `second`, which the scores swap. A pod with the label `guard` runs on n4; `first` keeps away from it if `isShy`.
 */
function gangWithReservations({ isShy = false, extra = [] }: { isShy?: boolean; extra?: readonly Plugin[] }): Fixture {
  const harness = harnessWith(...extra);
  for (const [i, role] of ['1', '2', '2', '3', 'x', 'x'].entries()) {
    const labels = { role, 'kubernetes.io/hostname': `n${i}` };
    const allocatable = i === 3 ? manyResources : {};
    harness.node({ name: `n${i}`, cpu: role === 'x' ? 2 : 4, memory: '64Gi', labels, allocatable });
  }
  harness.pod({ name: 'guard', nodeName: 'n4', labels: { guard: 'x' } });
  harness.group({ name: 'g', minMember: 18 });
  const members = Array.from({ length: 16 }, (_, i) =>
    harness.pod({
      ...{ name: `m${i}`, group: 'g', cpu: 1, requests: i === 15 ? manyResources : {} },
      spec: { affinity: { nodeAffinity: i < 8 ? inRoles('1', '2') : inRoles('2', '3') } },
    }),
  );
  const reserve = (owner: Pod, nodeName: string): void =>
    harness.cluster.reservation({ kind: 'backfill', owner, nodeName, isKept: true, plan: { priority: 0 } });
  for (const [i, owner] of members.entries()) reserve(owner, `n${Math.floor(i / 4)}`);
  const guarded = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { guard: 'x' } } };
  const shy = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [guarded] } };
  const toN4 = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: ['n4'] }] };
  const prefersN4 = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: toN4 }] };
  const rulesOf = { first: isShy ? shy : {}, second: {} };
  for (const [i, [name, rules]] of Object.entries(rulesOf).entries()) {
    const nodeAffinity = { ...inRoles('x'), ...(name === 'second' && prefersN4) };
    const owner = harness.pod({ name, group: 'g', cpu: 2, spec: { affinity: { nodeAffinity, ...rules } } });
    members.push(owner);
    reserve(owner, `n${4 + i}`);
  }
  return { harness, members };
}

it('places a gang on its reserved nodes if no other strategy finds a plan', () => {
  const { harness, members } = gangWithReservations({});
  const plan = dryRun(harness, members);
  expect(plan.strategy).toBe('ReservedNodes');
  expect(nodesByPod(plan)).toMatchObject({ m0: 'n0', m4: 'n1', m8: 'n2', m12: 'n3', first: 'n4' });
  for (const { uid } of members) harness.cluster.endReservation(uid);
  expect(dryRun(harness, members).blocked).toBeDefined();
});

it('names the plugin that rejects a reserved node, so that its events wake the gang', () => {
  const { harness, members } = gangWithReservations({ isShy: true });
  const plan = dryRun(harness, members);
  expect(plan.blocked).toBeDefined();
  expect([...plan.unschedulablePlugins]).toContain('InterPodAffinity');
});

it('reports the failure of a plugin on a reserved node', () => {
  const plugin: Plugin = {
    name: 'Remote',
    reserve: (_state, pod, node) => {
      if (pod.name === 'm0' && node.name === 'n0') throw new Error('no answer');
    },
    unreserve: () => undefined,
  };
  const { harness, members } = gangWithReservations({ extra: [plugin] });
  expect(dryRun(harness, members).blocked?.rejection).toMatchObject({ status: { code: 'Error' } });
});
