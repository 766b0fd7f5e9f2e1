import { describe, expect, it } from 'vitest';
import { PlainCapacity } from './plain-fit.ts';
import type { PlainNode, PlainPod, PlainTerm } from './plain-objects.ts';

const node = (name: string, milliCpu: number, more: Partial<PlainNode> = {}): PlainNode => {
  return {
    name,
    version: 1,
    milliCpu,
    mebibytes: 1_000,
    gpus: 0,
    pods: 10,
    zone: undefined,
    isClosed: false,
    isReserved: false,
    ...more,
  };
};

const pod = (milliCpu: number, more: Partial<PlainPod> = {}): PlainPod => {
  return {
    key: '',
    uid: '',
    milliCpu,
    mebibytes: 10,
    gpus: 0,
    hostPorts: [],
    zone: undefined,
    terms: [],
    labeledAs: more.group === undefined ? [] : [more.group],
    ...more,
  } as PlainPod;
};

describe('PlainCapacity', () => {
  it('counts the CPU, memory, GPUs, pod slots and host ports of a node', () => {
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
    expect(two(pod(1, { gpus: 1 }), pod(1, { gpus: 2 }), node('a', 1_000, { gpus: 2 }))).toBe('3 of 2 GPUs');
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

  it('puts only pods that tolerate the taint on reserved nodes', () => {
    const capacity = new PlainCapacity([node('a', 1_000, { isReserved: true })], []);
    expect([false, true].map((toleratesReserved) => capacity.takes(pod(1, { toleratesReserved }), 'a'))).toEqual([
      false,
      true,
    ]);
  });

  it('finds the only arrangement that fits, and holds the planner to it unless the members have terms', () => {
    // 3 + 2 and 4: a pod of 2 on the node of 4 leaves no capacity for the pod of 4.
    const capacity = new PlainCapacity([node('a', 5), node('b', 4)], []);
    const members = [pod(3), pod(2), pod(4)];
    expect(capacity.arrangement(members, 3)).toBe('fits');
    expect(capacity.isFound(members, 3)).toBe(true);
    const terms: readonly PlainTerm[] = [{ kind: 'apart', domain: 'node', group: 'none' }];
    const withTerms = [pod(3, { terms }), pod(2, { terms }), pod(4, { terms })];
    expect(capacity.isFound(withTerms, 3)).toBe(false);
    expect(capacity.arrangement([...members, pod(1)], 4)).toBe('none');
    expect(capacity.isFound([pod(2), pod(2), pod(2), pod(2)], 4)).toBe(true);
  });

  it('holds the planner to the order hardest first, on whichever nodes, and to the easiest first if some may be left out', () => {
    const capacity = new PlainCapacity([node('a', 4), node('b', 3)], []);
    const terms: readonly PlainTerm[] = [{ kind: 'apart', domain: 'node', group: 'none' }];
    const members = (...amounts: readonly number[]): PlainPod[] => amounts.map((amount) => pod(amount, { terms }));
    // Only the pod of 4 may not be placed second.
    expect(capacity.isFound(members(3, 4), 2)).toBe(true);
    expect(new PlainCapacity([node('a', 4)], []).isFound(members(4, 2, 2), 2)).toBe(true);
  });

  it('knows where pods must be apart, together or spread', () => {
    const zones = [node('a', 3, { zone: 'x' }), node('b', 1, { zone: 'x' }), node('c', 2, { zone: 'y' })];
    const member = (kind: PlainTerm['kind'], domain: PlainTerm['domain'], uid = 'new'): PlainPod =>
      pod(1, { uid, group: 'red', terms: [{ kind, domain, group: 'red' }] });
    const members = (kind: PlainTerm['kind'], domain: PlainTerm['domain'], count: number): PlainPod[] =>
      Array.from({ length: count }, (_, i) => member(kind, domain, `m${i}`));
    const empty = new PlainCapacity(zones, []);
    const most = (kind: PlainTerm['kind'], domain: PlainTerm['domain']): number[] =>
      [1, 2, 3, 4, 5, 6].filter((count) => empty.arrangement(members(kind, domain, count), count) === 'fits');
    expect([most('apart', 'node'), most('apart', 'zone')]).toEqual([
      [1, 2, 3],
      [1, 2],
    ]);
    expect([most('together', 'zone'), most('together', 'node')]).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3],
    ]);
    expect([most('spread', 'zone'), most('spread', 'node')]).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5],
    ]);
    const there = new PlainCapacity(zones, [[member('together', 'zone', 'old'), 'c']]);
    expect(['a', 'b', 'c'].map((name) => there.takes(member('together', 'zone'), name))).toEqual([false, false, true]);
    expect(['a', 'b', 'c'].map((name) => there.takes(member('apart', 'zone'), name))).toEqual([true, true, false]);
    expect(['a', 'b', 'c'].map((name) => there.takes(member('spread', 'zone'), name))).toEqual([true, true, false]);
    const shunning = new PlainCapacity(zones, [[member('apart', 'zone', 'old'), 'c']]);
    expect(shunning.takes(pod(1, { uid: 'new', group: 'red' }), 'c')).toBe(false);
  });

  it('puts a pod where its volume is and where the extender lets it go', () => {
    const nodes = [node('a', 3, { zone: 'x' }), node('b', 3, { zone: 'y' })];
    const claims = new Map([
      ['in-y', 'y'],
      ['anywhere', undefined],
    ]);
    const capacity = new PlainCapacity(nodes, [], { claims, refused: ['a'] });
    const open = (more: Partial<PlainPod>): string[] => ['a', 'b'].filter((name) => capacity.takes(pod(1, more), name));
    expect(open({ claim: 'in-y' })).toEqual(['b']);
    expect(open({ claim: 'anywhere' })).toEqual(['a', 'b']);
    expect(open({ claim: 'missing' })).toEqual([]);
    expect(open({ isManaged: true })).toEqual(['b']);
  });

  it('needs only as many of the pods as the caller asks for', () => {
    const capacity = new PlainCapacity([node('a', 4)], []);
    expect(capacity.arrangement([pod(9), pod(2), pod(2)], 2)).toBe('fits');
    expect(capacity.arrangement([pod(9), pod(2), pod(2)], 3)).toBe('none');
  });
});
