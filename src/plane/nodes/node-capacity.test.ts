import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readResources } from '../../api/resource-list.ts';
import type { ResourceSum } from '../../api/resource-list.ts';
import { NodeCapacity } from './node-capacity.ts';

const request = (resources: Record<string, string | number>): ResourceSum => readResources({ pods: 1, ...resources });

describe('NodeCapacity', () => {
  test.each([
    [{ cpu: '1500m' }, 'OutOfcpu', 'cpu, requested: 1500, used: 3000, capacity: 4000'],
    [{ memory: '1Gi' }, 'OutOfmemory', 'memory, requested: 1073741824, used: 0, capacity: 1000000000'],
    [{ 'nvidia.com/gpu': 2 }, 'OutOfnvidia.com/gpu', 'nvidia.com/gpu, requested: 2, used: 1, capacity: 2'],
    [{ 'example.com/none': 1 }, 'OutOfexample.com/none', 'example.com/none, requested: 1, used: 0, capacity: 0'],
    [{ memory: '1Gi', cpu: 2 }, 'OutOfcpu', 'cpu, requested: 2000, used: 3000, capacity: 4000'],
  ])('rejects a pod that requests %j with %s', (resources, reason, detail) => {
    const capacity = new NodeCapacity({ cpu: 4, memory: '1G', pods: 3, 'nvidia.com/gpu': 2 });
    expect(capacity.admit('first', request({ cpu: 3, 'nvidia.com/gpu': 1 }))).toBeUndefined();
    const message = `Node didn't have enough resource: ${detail}`;
    expect(capacity.admit('second', request(resources as Record<string, string | number>))).toEqual({
      reason,
      message,
    });
    expect(capacity.admit('third', request({ cpu: 1 }))).toBeUndefined();
  });

  test('rejects a pod when the node has no free pod slot', () => {
    const capacity = new NodeCapacity({ cpu: 4, pods: 1 });
    expect(capacity.admit('a', request({}))).toBeUndefined();
    expect(capacity.admit('b', request({}))?.reason).toBe('OutOfpods');
    capacity.release('a');
    expect(capacity.admit('b', request({}))).toBeUndefined();
  });

  test('never admits more than the capacity, and reuses released capacity', () => {
    const steps = fc.array(fc.record({ pod: fc.nat(9), cpu: fc.integer({ min: 0, max: 4 }), release: fc.boolean() }));
    fc.assert(
      fc.property(steps, (sequence) => {
        const capacity = new NodeCapacity({ cpu: 5, pods: 100 });
        const admitted = new Map<number, number>();
        for (const { pod, cpu, release } of sequence) {
          if (release) {
            capacity.release(String(pod));
            admitted.delete(pod);
            continue;
          }
          const used = [...admitted.values()].reduce((sum, amount) => sum + amount, 0);
          const fits = admitted.has(pod) || used + cpu <= 5;
          expect(capacity.admit(String(pod), request({ cpu })) === undefined).toBe(fits);
          if (fits && !admitted.has(pod)) admitted.set(pod, cpu);
        }
      }),
    );
  });
});
