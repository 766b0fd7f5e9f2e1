import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { Cluster } from '../cluster/cluster.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { Builders } from '../testkit/builders/builders.ts';
import { createNodeName } from './nodename/node-name.ts';
import { createNodeUnschedulable } from './nodeunschedulable/node-unschedulable.ts';
import { createTaintToleration } from './tainttoleration/taint-toleration.ts';

const taints = ['a:NoSchedule', 'a=x:NoExecute', 'b:PreferNoSchedule', 'c=y:PreferNoSchedule'];
const change = fc.record({
  kind: fc.constantFrom('node', 'node', 'node', 'noNode'),
  node: fc.integer({ min: 0, max: 7 }),
  taints: fc.subarray(taints),
  unschedulable: fc.boolean(),
});
const asking = fc.record({
  tolerations: fc.subarray([
    { key: 'a', operator: 'Exists' },
    { key: 'b', operator: 'Exists', effect: 'PreferNoSchedule' },
    { key: 'c', operator: 'Equal', value: 'y' },
    { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
  ]),
  nodeName: fc.constantFrom('', '', 'n1'),
});

it('gives the same results by node class as for single nodes, however the nodes change', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ changes: fc.array(change, { maxLength: 8 }), asking })), (rounds) => {
      const build = new Builders();
      const cluster = new Cluster(build.resources);
      const handle = pluginHandle(build, { cluster });
      const plugins = [createNodeName, createNodeUnschedulable, createTaintToleration].map((create) =>
        create(undefined, handle),
      );
      const state = new CycleState();
      for (const round of rounds) {
        for (const { kind, node, ...given } of round.changes) {
          if (kind === 'noNode') cluster.removeNode(`n${node}`);
          else cluster.setNode(build.projectedNode({ name: `n${node}`, ...given }));
        }
        const pod = build.projectedPod({ name: 'asking', ...round.asking });
        // Every other node, from the end, because the caller chooses the order.
        const indexes = Int32Array.from([...cluster.nodes.keys()].reverse().filter((index) => index % 2 === 0));
        for (const plugin of plugins) {
          const left = indexes.slice();
          const count = plugin.filterAll!(state, pod, left, left.length);
          const fitting = [...indexes].filter((i) => plugin.filter!(state, pod, cluster.nodes[i]!) === undefined);
          expect([...left.subarray(0, count)], plugin.name).toEqual(fitting);
          if (plugin.scoreAll === undefined) continue;
          const scores = new Float64Array(cluster.nodes.length).fill(-1);
          plugin.scoreAll(state, pod, indexes, indexes.length, scores);
          const each = cluster.nodes.map((node, i) => (indexes.includes(i) ? plugin.score!(state, pod, node) : -1));
          expect([...scores], plugin.name).toEqual(each);
        }
      }
    }),
    { numRuns: 200 },
  );
});
