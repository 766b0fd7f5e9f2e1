import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { createBalancedAllocation } from './balanced-allocation.ts';
import { createNodeResourcesFit } from './node-resources-fit.ts';

const gpu = 'example.com/gpu';
const resources = [{ name: 'cpu' }, { name: 'memory' }, { name: gpu }, { name: 'pods' }, { name: 'ephemeral-storage' }];
const shape = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];
const amounts = fc.record({
  cpu: fc.constantFrom(0, 1, 2, 7),
  // A double cannot multiply the last amount by 100 exactly.
  memory: fc.constantFrom(0, '1Gi', '3Gi', 9 * 2 ** 48),
  gpus: fc.constantFrom(0, 1, 4),
});
type Amounts = typeof amounts extends fc.Arbitrary<infer T> ? T : never;

const change = fc.record({
  kind: fc.constantFrom('node', 'node', 'noNode', 'pod', 'pod', 'pod', 'noPod'),
  node: fc.integer({ min: 0, max: 7 }),
  pod: fc.integer({ min: 0, max: 9 }),
  amounts,
});

it('filterAll() and scoreAll() agree with filter() and score(), however the nodes change', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ changes: fc.array(change, { maxLength: 8 }), asking: amounts })), (rounds) => {
      const build = new Builders();
      const cluster = new Cluster(build.resources);
      const handle = pluginHandle(build, { cluster });
      const plugins = [
        createNodeResourcesFit(undefined, handle),
        createNodeResourcesFit({ scoringStrategy: { type: 'MostAllocated', resources } }, handle),
        createNodeResourcesFit(
          {
            scoringStrategy: {
              type: 'RequestedToCapacityRatio',
              resources: resources.slice(0, 3),
              requestedToCapacityRatio: { shape },
            },
          },
          handle,
        ),
        createBalancedAllocation(undefined, handle),
        createBalancedAllocation({ resources }, handle),
      ];
      const options = ({ cpu, memory, gpus }: Amounts): PodOptions => ({
        cpu,
        memory,
        requests: gpus === 0 ? {} : { [gpu]: gpus },
      });
      for (const { changes, asking } of rounds) {
        for (const { kind, node, pod, amounts: given } of changes) {
          const name = `p${pod}`;
          if (kind === 'node') {
            const { cpu, memory, gpus } = given;
            cluster.setNode(
              build.projectedNode({ name: `n${node}`, cpu: 2 * cpu, memory, allocatable: { [gpu]: 2 * gpus } }),
            );
          } else if (kind === 'noNode') {
            cluster.removeNode(`n${node}`);
          } else if (kind === 'pod') {
            cluster.setPod(build.projectedPod({ name, uid: name, nodeName: `n${node}`, ...options(given) }));
          } else {
            cluster.removePod(name);
          }
        }
        const pod = build.projectedPod({ name: 'asking', ...options(asking) });
        // Every other node, from the end, because the caller chooses the order.
        const indexes = Int32Array.from([...cluster.nodes.keys()].reverse().filter((index) => index % 2 === 0));
        for (const plugin of plugins) {
          const scores = new Float64Array(cluster.nodes.length).fill(-1);
          plugin.scoreAll!(new CycleState(), pod, indexes, indexes.length, scores);
          const each = cluster.nodes.map((node, index) =>
            indexes.includes(index) ? plugin.score!(new CycleState(), pod, node) : -1,
          );
          expect([...scores]).toEqual(each);
          if (plugin.filterAll === undefined) continue;
          const left = indexes.slice();
          const count = plugin.filterAll(new CycleState(), pod, left, left.length);
          const fitting = [...indexes].filter(
            (index) => plugin.filter!(new CycleState(), pod, cluster.nodes[index]!) === undefined,
          );
          expect([...left.subarray(0, count)]).toEqual(fitting);
        }
      }
    }),
    { numRuns: 300 },
  );
});
