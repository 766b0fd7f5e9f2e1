import { describe, expect, it } from 'vitest';
import type { NodeInfo, NodeView } from '../../../cluster/node-info.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';
import { nodesByPod, pictureWith, trial } from '../testing/planning.ts';

const noModel = new Status('UnschedulableAndUnresolvable', 'no accelerator');
const guard: Plugin = {
  name: 'Guard',
  sign: () => '',
  filter: (_state, _pod, { node }) => (node.labels.model === undefined ? noModel : undefined),
};

/** Reads what only the nodes have that the guard lets pass. */
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

describe('a plugin that is asked about many nodes at once', () => {
  it('is asked about none that one before it refuses', () => {
    const picture: Picture = pictureWith(
      guard,
      reader(() => picture.cluster.nodes),
    );
    for (let i = 0; i < 5; i++) picture.node({ name: `plain-${i}` });
    picture.node({ name: 'old', labels: { model: 'old' } });
    const [pod] = picture.pods(1, { cpu: 1 });
    const refused = trial(picture, [pod!]);
    expect(refused.blocked?.refusal).toMatchObject({
      reasons: new Map([
        ['no accelerator', 5],
        ['old', 1],
      ]),
    });
    picture.node({ name: 'new', labels: { model: 'new' } });
    expect(nodesByPod(trial(picture, [pod!]))).toEqual({ [pod!.name]: 'new' });
  });
});

describe('scores that are beyond measure together', () => {
  const strong = (weight: number): Plugin & { readonly weight: number } => ({
    name: 'Strong',
    weight,
    sign: () => '',
    score: (_state, _pod, { name }) => (name.startsWith('wanted') ? Number.MAX_VALUE : 0),
  });

  it('are numbers each, and decide', () => {
    const picture = pictureWith(strong(1));
    for (const name of ['a', 'b', 'wanted-1', 'wanted-2', 'wanted-3']) picture.node({ name, cpu: 1 });
    const pods = picture.pods(3, { cpu: 1 });
    const plan = trial(picture, pods);
    expect(plan.blocked).toBeUndefined();
    expect(Object.values(nodesByPod(plan)).sort()).toEqual(['wanted-1', 'wanted-2', 'wanted-3']);
  });

  it('leave nodes equal, which are taken in an order that does not depend on how they came', () => {
    const namesOf = (nodes: readonly string[]): readonly string[] => {
      const picture = new Picture({ plugins: defaultPlugins, extra: [strong(10)] });
      for (const name of nodes) picture.node({ name, cpu: 1 });
      return Object.values(nodesByPod(trial(picture, picture.pods(nodes.length, { cpu: 1 }))));
    };
    const names = Array.from({ length: 12 }, (_, i) => `wanted-${i}`);
    expect(namesOf(names)).toHaveLength(names.length);
    expect(namesOf(names.toReversed())).toEqual(namesOf(names));
  });
});

it('a plugin that fails for one kind on one node does not bring that kind to the front', () => {
  const no = new Status('Unschedulable', 'no');
  const fits = (own: string | undefined, node: string): boolean => {
    if (own === 'odd' && node === 'n0') throw new Error('broken');
    return own !== 'few' || node === 'n1';
  };
  const picture = pictureWith({
    name: 'Frail',
    filter: (_state, { labels }, { name }) => (fits(labels.own, name) ? undefined : no),
    filterAll: (_state, { labels }, indexes, size) => {
      let left = 0;
      for (let i = 0; i < size; i++) {
        if (fits(labels.own, picture.cluster.nodes[indexes[i]!]!.name)) indexes[left++] = indexes[i]!;
      }
      return left;
    },
  });
  for (let i = 0; i < 5; i++) picture.node({ name: `n${i}` });
  const odd = picture.pods(1, { cpu: 1, labels: { own: 'odd' } });
  const few = picture.pods(1, { cpu: '500m', labels: { own: 'few' } });
  // One is enough, and there is a place for it.
  expect(trial(picture, [...odd, ...few], 1).blocked).toBeUndefined();
});
