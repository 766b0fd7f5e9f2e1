import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amountOf } from '../api/resource-list.ts';
import { cpuId, memoryId, podsId } from '../api/resource-names.ts';
import { Builders } from '../testkit/builders/builders.ts';
import { Cluster } from './cluster.ts';
import type { Transaction } from './transaction.ts';

const nodeNames = ['a', 'b', 'c'];
const podNames = ['p', 'q', 'r', 's'];
const amount = fc.record({ cpu: fc.integer({ min: 1, max: 6 }), memory: fc.integer({ min: 1, max: 5000 }) });

const step = fc.oneof(
  fc.record({ kind: fc.constant('node' as const), name: fc.constantFrom(...nodeNames), amount }),
  fc.record({ kind: fc.constant('noNode' as const), name: fc.constantFrom(...nodeNames) }),
  fc.record({
    kind: fc.constant('pod' as const),
    name: fc.constantFrom(...podNames),
    on: fc.constantFrom('', ...nodeNames),
    amount,
    priority: fc.constantFrom(0, 5),
    deleting: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('noPod' as const), name: fc.constantFrom(...podNames) }),
  fc.record({
    kind: fc.constant('dry run' as const),
    assumed: fc.constantFrom(...podNames),
    on: fc.constantFrom(...nodeNames),
    isKept: fc.boolean(),
    isLookedAt: fc.boolean(),
    takesOut: fc.boolean(),
  }),
);

function expectSums(cluster: Cluster): void {
  for (const id of [cpuId, memoryId, podsId]) {
    const unit = id === memoryId ? 1024 : 1;
    const free = cluster.nodes.map((node) => Math.ceil(Math.max(0, node.free(id)) / unit) * unit);
    expect(cluster.capacity.free(id)).toBe(free.reduce((sum, each) => sum + each, 0));
    expect(cluster.capacity.largest(id)).toBe(Math.max(0, ...free));
  }
}

function expectColumns({ amounts, nodes }: Cluster): void {
  const { nonZero } = amounts;
  for (const id of [memoryId, cpuId]) {
    const { allocatable, requested } = amounts.of(id);
    for (const node of nodes) {
      expect([allocatable[node.index], requested[node.index]]).toEqual([
        node.allocatable.of(id),
        node.requested.of(id),
      ]);
      expect(nonZero.milliCpu[node.index]).toBe(node.nonZeroMilliCpu);
      expect(nonZero.memory[node.index]).toBe(node.nonZeroMemory);
    }
  }
}

function expectPriorities({ requestedByPriority, nodes }: Cluster): void {
  for (const priority of [-1, 0, 5, 9]) {
    const pods = nodes.map((node) => [...node.pods.values()].filter((pod) => !pod.deleting && pod.priority < priority));
    expect(nodes.map((node) => requestedByPriority.podsBelow(priority, node))).toEqual(
      pods.map(({ length }) => length),
    );
  }
  for (const id of [cpuId, memoryId, podsId]) {
    for (const priority of [-1, 0, 5, 9]) {
      const below = nodes.map(({ pods }) =>
        [...pods.values()]
          .filter((pod) => pod.deleting || pod.priority < priority)
          .reduce((sum, { template }) => sum + amountOf(template.requests, id), 0),
      );
      expect(nodes.map((node) => requestedByPriority.below(priority, node, id))).toEqual(below);
      expect(requestedByPriority.totalBelow(priority, id)).toBe(below.reduce((sum, each) => sum + each, 0));
    }
  }
}

it('free capacity and requests by priority equal a recount, and columns equal the nodes, after any changes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const build = new Builders();
      const cluster = new Cluster(build.resources);
      for (const todo of steps) {
        switch (todo.kind) {
          case 'node':
            cluster.setNode(
              build.projectedNode({ name: todo.name, cpu: todo.amount.cpu, memory: `${todo.amount.memory}k` }),
            );
            break;
          case 'noNode':
            cluster.removeNode(todo.name);
            break;
          case 'pod': {
            const { cpu, memory } = todo.amount;
            const { name, on: nodeName, priority, deleting } = todo;
            const pod = { name, uid: name, nodeName, cpu, memory: `${memory}k`, priority, deleting };
            cluster.setPod(build.projectedPod(pod));
            break;
          }
          case 'noPod':
            cluster.removePod(todo.name);
            break;
          case 'dry run': {
            const transaction: Transaction = cluster.begin();
            if (todo.takesOut && !todo.isKept) transaction.takeOut(cluster.pods());
            const [pod, node] = [cluster.openPod(todo.assumed), cluster.node(todo.on)];
            if (pod !== undefined && node !== undefined) transaction.assume(pod, node);
            if (todo.isLookedAt) {
              expectSums(cluster);
              expectColumns(cluster);
              expectPriorities(cluster);
            }
            if (todo.isKept) transaction.commit();
            else transaction.rollback();
          }
        }
        // Not each time, so that changes accumulate.
        if (todo.kind === 'noPod') continue;
        expectSums(cluster);
        expectColumns(cluster);
        expectPriorities(cluster);
      }
    }),
    { numRuns: 200 },
  );
});
