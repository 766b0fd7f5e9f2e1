import { describe, expect, it } from 'vitest';
import { PlainCapacity } from './plain-fit.ts';
import type { PlainNode, PlainPod } from './plain-objects.ts';

const node = (name: string, milliCpu: number, more: Partial<PlainNode> = {}): PlainNode => {
  return {
    name,
    version: 1,
    milliCpu,
    mebibytes: 1_000,
    pods: 10,
    zone: undefined,
    isClosed: false,
    isReserved: false,
    ...more,
  };
};

const pod = (milliCpu: number, more: Partial<PlainPod> = {}): PlainPod => {
  return { key: '', uid: '', milliCpu, mebibytes: 10, hostPorts: [], zone: undefined, ...more } as PlainPod;
};

describe('PlainCapacity', () => {
  it('counts the CPU, memory, pod slots and host ports of a node', () => {
    const two = (one: PlainPod, other: PlainPod, on = node('a', 1_000)): string | undefined =>
      new PlainCapacity(
        [on],
        [
          [one, 'a'],
          [other, 'a'],
        ],
      ).excess('a');
    expect(two(pod(500), pod(500))).toBeUndefined();
    expect(two(pod(500), pod(501))).toBe('1001 of 1000 millicores');
    expect(two(pod(1, { mebibytes: 600 }), pod(1, { mebibytes: 600 }))).toBe('1200 of 1000 MiB');
    expect(two(pod(1), pod(1), node('a', 1_000, { pods: 1 }))).toBe('2 of 1 pods');
    expect(two(pod(1, { hostPorts: [80] }), pod(1, { hostPorts: [80] }))).toBe('host port 80 twice');
  });

  it('puts no pod on closed nodes or on nodes in another zone', () => {
    const capacity = new PlainCapacity([node('a', 1_000, { isClosed: true }), node('b', 1_000, { zone: 'x' })], []);
    expect([
      capacity.takes(pod(1), 'a'),
      capacity.takes(pod(1, { zone: 'y' }), 'b'),
      capacity.takes(pod(1, { zone: 'x' }), 'b'),
    ]).toEqual([false, false, true]);
  });

  it('finds the only arrangement that fits, and detects that others do not', () => {
    // 3 + 2 and 4: a pod of 2 on the node of 4 leaves no capacity for the pod of 4.
    const capacity = new PlainCapacity([node('a', 5), node('b', 4)], []);
    const members = [pod(3), pod(2), pod(4)];
    expect(capacity.takesTogether(members, 3)).toBe(true);
    expect(capacity.takesAnyhow(members, 3)).toBe(false);
    expect(capacity.takesTogether([...members, pod(1)], 4)).toBe(false);
    expect(capacity.takesAnyhow([pod(2), pod(2), pod(2), pod(2)], 4)).toBe(true);
  });

  it('needs only as many of the pods as the caller asks for', () => {
    const capacity = new PlainCapacity([node('a', 4)], []);
    expect(capacity.takesTogether([pod(9), pod(2), pod(2)], 2)).toBe(true);
    expect(capacity.takesTogether([pod(9), pod(2), pod(2)], 3)).toBe(false);
  });
});
