import { describe, expect, it } from 'vitest';
import { Builders } from '../../../testkit/builders/builders.ts';
import { Status } from '../../../framework/status.ts';
import { NodeTable } from './node-table.ts';
import { SignatureCache } from './signature-cache.ts';

const node = new Builders().nodeInfo({ name: 'a' });
node.index = 0;
node.generation = 5;

describe('the signature cache', () => {
  it('returns the same table for the same signature', () => {
    const cache = new SignatureCache(() => new NodeTable(1), 2);
    const table = cache.of('x');
    cache.of('y');
    expect(cache.of('x')).toBe(table);
  });

  it('clears and reuses the least recently used table', () => {
    const cache = new SignatureCache(() => new NodeTable(1), 2);
    const [x, y] = [cache.of('x'), cache.of('y')];
    for (const table of [x, y]) {
      table.reserve(1);
      table.markFiltered(node);
      table.markScored(node);
    }
    cache.of('x');
    const z = cache.of('z');
    expect(z).toBe(y);
    const generations = (table: NodeTable): unknown => [table.filtered[0], table.scored[0]];
    expect(generations(z)).toEqual([-1, -1]);
    expect(generations(cache.of('x'))).toEqual([5, 5]);
    expect(generations(cache.of('y'))).toEqual([-1, -1]);
  });
});

it('a reused table keeps no statuses of its former signature', () => {
  const cache = new SignatureCache(() => new NodeTable(0), 1);
  const table = cache.of('a');
  table.reserve(3);
  table.setStatus(2, new Status('Unschedulable', 'no'));
  expect(cache.of('b')).toBe(table);
  expect(table.statuses.every((status) => status === undefined)).toBe(true);
});
