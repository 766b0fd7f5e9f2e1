import { describe, expect, it } from 'vitest';
import type { NodeInfo, NodeView } from '../../../cluster/node-info.ts';
import { describeDiagnosis } from '../../../framework/diagnosis.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { nodesByPod, harnessWith, dryRun } from '../testing/planning.ts';

const noModel = new Status('UnschedulableAndUnresolvable', 'no accelerator');
const guard: Plugin = {
  name: 'Guard',
  sign: () => '',
  filter: (_state, _pod, { node }) => (node.labels.model === undefined ? noModel : undefined),
};

/** Filters by a label that only nodes accepted by Guard have. */
function reader(nodes: () => readonly NodeInfo[]): Plugin {
  const isOld = ({ name, node }: NodeView): boolean => {
    if (node.labels.model === undefined) throw new Error(`${name} has no model`);
    return node.labels.model === 'old';
  };
  return {
    name: 'Reader',
    sign: () => '',
    filter: (_state, _pod, node) => (isOld(node) ? new Status('Unschedulable', 'old') : undefined),
    filterAll: (_state, _pod, indexes, size) => {
      let left = 0;
      for (let i = 0; i < size; i++) if (!isOld(nodes()[indexes[i]!]!)) indexes[left++] = indexes[i]!;
      return left;
    },
  };
}

describe('a bulk plugin', () => {
  it('gets no node that an earlier plugin rejects', () => {
    const harness: CoreHarness = harnessWith(
      guard,
      reader(() => harness.cluster.nodes),
    );
    for (let i = 0; i < 5; i++) harness.node({ name: `plain-${i}` });
    harness.node({ name: 'old', labels: { model: 'old' } });
    const [pod] = harness.pods(1, { cpu: 1 });
    const rejected = dryRun(harness, [pod!]);
    expect(describeDiagnosis(rejected.blocked!)).toBe('0/6 nodes are available: 1 old, 5 no accelerator.');
    harness.node({ name: 'new', labels: { model: 'new' } });
    expect(nodesByPod(dryRun(harness, [pod!]))).toEqual({ [pod!.name]: 'new' });
  });

  it('is called for single nodes only if they have reservations', () => {
    const calledFor: string[] = [];
    const counting: Plugin = {
      name: 'Counting',
      sign: () => '',
      filter: (_state, _pod, { name }) => {
        calledFor.push(name);
        return undefined;
      },
      filterAll: (_state, _pod, _indexes, size) => size,
    };
    const harness = harnessWith(counting);
    for (let i = 0; i < 5; i++) harness.node({ name: `n${i}` });
    const [owner, pod] = harness.pods(2, { cpu: 1 });
    harness.cluster.reservation({ kind: 'repair', owner: owner!, nodeName: 'n0', isKept: true });
    expect(dryRun(harness, [pod!]).blocked).toBeUndefined();
    expect(calledFor).toEqual(['n0']);
  });
});

describe('scores with an infinite sum', () => {
  const strong = (weight: number): Plugin & { readonly weight: number } => ({
    name: 'Strong',
    weight,
    sign: () => '',
    score: (_state, _pod, { name }) => (name.startsWith('wanted') ? Number.MAX_VALUE : 0),
  });

  it('are valid if each one is finite, and decide the order', () => {
    const harness = harnessWith(strong(1));
    for (const name of ['a', 'b', 'wanted-1', 'wanted-2', 'wanted-3']) harness.node({ name, cpu: 1 });
    const pods = harness.pods(3, { cpu: 1 });
    const plan = dryRun(harness, pods);
    expect(plan.blocked).toBeUndefined();
    expect(Object.values(nodesByPod(plan)).sort()).toEqual(['wanted-1', 'wanted-2', 'wanted-3']);
  });

  it('make nodes equal, in an order that does not depend on their arrival', () => {
    const namesOf = (nodes: readonly string[]): readonly string[] => {
      const harness = new CoreHarness({ plugins: defaultPlugins, extra: [strong(10)] });
      for (const name of nodes) harness.node({ name, cpu: 1 });
      return Object.values(nodesByPod(dryRun(harness, harness.pods(nodes.length, { cpu: 1 }))));
    };
    const names = Array.from({ length: 12 }, (_, i) => `wanted-${i}`);
    expect(namesOf(names)).toHaveLength(names.length);
    expect(namesOf(names.toReversed())).toEqual(namesOf(names));
  });
});

it('a plugin failure for one pod class on one node does not move that class to the front', () => {
  const no = new Status('Unschedulable', 'no');
  const fits = (own: string | undefined, node: string): boolean => {
    if (own === 'odd' && node === 'n0') throw new Error('broken');
    return own !== 'few' || node === 'n1';
  };
  const harness = harnessWith({
    name: 'Frail',
    filter: (_state, { labels }, { name }) => (fits(labels.own, name) ? undefined : no),
    filterAll: (_state, { labels }, indexes, size) => {
      let left = 0;
      for (let i = 0; i < size; i++) {
        if (fits(labels.own, harness.cluster.nodes[indexes[i]!]!.name)) indexes[left++] = indexes[i]!;
      }
      return left;
    },
  });
  for (let i = 0; i < 5; i++) harness.node({ name: `n${i}` });
  const odd = harness.pods(1, { cpu: 1, labels: { own: 'odd' } });
  const few = harness.pods(1, { cpu: '500m', labels: { own: 'few' } });
  // One member is enough, and one fits.
  expect(dryRun(harness, [...odd, ...few], 1).blocked).toBeUndefined();
});
