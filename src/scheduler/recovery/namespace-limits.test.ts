import { describe, expect, it } from 'vitest';
import type { ResourceList } from '../../api/resource-list.ts';
import { NamespaceLimits } from './namespace-limits.ts';

const cpu = (amount: number): ResourceList => ({ ids: [0], amounts: [amount] });
const gpu = (amount: number): ResourceList => ({ ids: [40], amounts: [amount] });

describe('the limit of a namespace', () => {
  it('is the most that was bound at the same time, in each resource', () => {
    const limits = new NamespaceLimits();
    const mixed: ResourceList = { ids: [0, 40], amounts: [2, 1] };
    limits.bind('ns', cpu(1));
    limits.bind('ns', mixed);
    expect([cpu(3), gpu(1), cpu(4), gpu(2)].map((list) => limits.allows('ns', list))).toEqual([
      ...[true, true],
      ...[false, false],
    ]);
    expect(limits.allows('other', cpu(1))).toBe(false);
  });

  it('looks back to the time when the namespace last had no reservation', () => {
    const limits = new NamespaceLimits();
    const [lost, kept] = [cpu(2), cpu(1)];
    for (const list of [lost, kept]) limits.bind('ns', list);
    limits.unbind('ns', lost);
    limits.reserve('ns', lost);
    expect(limits.allows('ns', cpu(1))).toBe(true);
    expect(limits.allows('ns', cpu(2))).toBe(false);
    limits.release('ns', lost);
    expect(limits.allows('ns', cpu(1))).toBe(true);
    expect(limits.allows('ns', cpu(2))).toBe(false);
  });
});

it('nothing is kept for a namespace without members and reservations', () => {
  const limits = new NamespaceLimits();
  limits.bind('ns', cpu(1));
  limits.reserve('ns', cpu(1));
  limits.unbind('ns', cpu(1));
  expect(limits.size).toBe(1);
  limits.release('ns', cpu(1));
  expect(limits.size).toBe(0);
});
