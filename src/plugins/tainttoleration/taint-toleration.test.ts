import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { Toleration } from '../../api/pod.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { createTaintToleration } from './taint-toleration.ts';

const build = new Builders();
const plugin = createTaintToleration(undefined, pluginHandle(build));
const state = new CycleState();

function fits(taints: readonly string[], tolerations: readonly Toleration[]): boolean {
  return plugin.filter!(state, build.projectedPod({ tolerations }), build.nodeInfo({ taints })) === undefined;
}

describe('taints', () => {
  it('reject pods that do not tolerate NoSchedule or NoExecute, and preemption cannot help', () => {
    const pod = build.projectedPod();
    for (const taint of ['dedicated=ml:NoSchedule', 'broken:NoExecute']) {
      expect(plugin.filter!(state, pod, build.nodeInfo({ taints: [taint] }))).toMatchObject({
        code: 'UnschedulableAndUnresolvable',
        message: 'node(s) had untolerated taint(s)',
        plugin: 'TaintToleration',
      });
    }
  });

  it('reject no pod for PreferNoSchedule', () => {
    expect(fits(['slow:PreferNoSchedule'], [])).toBe(true);
  });

  it('must all be tolerated', () => {
    expect(fits(['a:NoSchedule', 'b:NoExecute'], [{ key: 'a', operator: 'Exists' }])).toBe(false);
    expect(fits(['a:NoSchedule', 'b:NoExecute'], [{ operator: 'Exists' }])).toBe(true);
  });

  it.each<[string, Toleration, boolean]>([
    ['the same key and value', { key: 'dedicated', operator: 'Equal', value: 'ml' }, true],
    ['the same key and value, operator left out', { key: 'dedicated', value: 'ml' }, true],
    ['the same key and value, operator empty', { key: 'dedicated', operator: '', value: 'ml' }, true],
    ['another value', { key: 'dedicated', operator: 'Equal', value: 'web' }, false],
    ['the key alone, whatever the value', { key: 'dedicated', operator: 'Exists' }, true],
    ['another key', { key: 'spot', operator: 'Exists' }, false],
    ['the key with another effect', { key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }, false],
    ['the key with this effect', { key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }, true],
    ['everything', { operator: 'Exists' }, true],
    ['an unknown operator', { key: 'dedicated', operator: 'Gt', value: 'ml' }, false],
  ])('are tolerated as in Kubernetes: %s', (_, toleration, expected) => {
    expect(fits(['dedicated=ml:NoSchedule'], [toleration])).toBe(expected);
  });
});

describe('scores', () => {
  it('count untolerated PreferNoSchedule taints; the node with most of them gets 0', () => {
    const pod = build.projectedPod({ tolerations: [{ key: 'known', operator: 'Exists' }] });
    const nodes = [
      build.nodeInfo(),
      build.nodeInfo({ taints: ['slow:PreferNoSchedule', 'known:PreferNoSchedule', 'known:NoSchedule'] }),
      build.nodeInfo({ taints: ['slow:PreferNoSchedule', 'old:PreferNoSchedule', 'far:PreferNoSchedule'] }),
    ];
    const scores = Float64Array.from(nodes, (node) => plugin.score!(state, pod, node));
    expect([...scores]).toEqual([0, 1, 3]);
    plugin.normalizeScore!(state, pod, scores);
    expect([...scores]).toEqual([100, 67, 0]);
  });

  it('from scoreAll() equal those from score(), also after taints and node indexes change', () => {
    const cluster = new Cluster(build.resources);
    const plural = createTaintToleration(undefined, pluginHandle(build, { cluster }));
    const pod = build.projectedPod({ tolerations: [{ key: 'known', operator: 'Exists' }] });
    const scoresOf = (): Record<string, number> => {
      const scores = new Float64Array(cluster.nodes.length);
      const indexes = Int32Array.from(cluster.nodes.keys()).reverse();
      plural.scoreAll!(state, pod, indexes, indexes.length, scores);
      for (const node of cluster.nodes) expect(scores[node.index]).toBe(plural.score!(state, pod, node));
      return Object.fromEntries(cluster.nodes.map((node) => [node.name, scores[node.index]!]));
    };
    const show = (nodeName: string, ...taints: string[]): void =>
      void cluster.setNode(build.projectedNode({ name: nodeName, taints }));
    show('a', 'slow:PreferNoSchedule');
    show('b');
    show('c', 'slow:PreferNoSchedule', 'old:PreferNoSchedule', 'known:PreferNoSchedule', 'x:NoSchedule');
    expect(scoresOf()).toEqual({ a: 1, b: 0, c: 2 });
    show('b', 'slow:PreferNoSchedule');
    show('c');
    expect(scoresOf()).toEqual({ a: 1, b: 1, c: 0 });
    cluster.removeNode('a');
    expect(scoresOf()).toEqual({ b: 1, c: 0 });
  });

  it('are all 100 if no taint is untolerated', () => {
    const scores = new Float64Array(3);
    plugin.normalizeScore!(state, build.projectedPod(), scores);
    expect([...scores]).toEqual([100, 100, 100]);
  });
});

it('signs pods equally only if they have the same tolerations', () => {
  const tolerations = [{ key: 'a', operator: 'Exists' }];
  const sign = (given: Toleration[]): string | undefined => plugin.sign!(build.projectedPod({ tolerations: given }));
  expect(sign(tolerations)).toBe(sign([...tolerations]));
  expect(sign(tolerations)).not.toBe(sign([]));
});

it('requeues a rejected pod when a node loses the untolerated taint', () => {
  const hint = plugin.eventsToRegister!().find(({ resource }) => resource === 'Node')!.hint!;
  const pod = build.projectedPod();
  const tainted = build.projectedNode({ taints: ['a:NoSchedule'] });
  const worse = build.projectedNode({ taints: ['a:NoSchedule', 'b:NoExecute'] });
  const clean = build.projectedNode();
  expect(hint(pod, { resource: 'Node', action: 'Update', old: tainted, new: clean })).toBe(true);
  expect(hint(pod, { resource: 'Node', action: 'Update', old: worse, new: tainted })).toBe(false);
  expect(hint(pod, { resource: 'Node', action: 'Update', old: clean, new: clean })).toBe(false);
  expect(hint(pod, { resource: 'Node', action: 'Add', old: undefined, new: clean })).toBe(true);
  expect(hint(pod, { resource: 'Node', action: 'Add', old: undefined, new: tainted })).toBe(false);
});
