import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { SignatureCache } from './signature-cache.ts';

const node = new Builders().nodeInfo({ name: 'a' });
node.index = 0;
node.generation = 5;

describe('the signature cache', () => {
  it('gives the same signature the same table', () => {
    const cache = new SignatureCache(1, 2);
    const table = cache.table('x');
    cache.table('y');
    expect(cache.table('x')).toBe(table);
  });

  it('gives up the least recently used table, and hands it out cleared', () => {
    const cache = new SignatureCache(1, 2);
    const [x, y] = [cache.table('x'), cache.table('y')];
    for (const table of [x, y]) {
      table.reserve(1);
      table.markCurrent(node);
    }
    cache.table('x');
    const z = cache.table('z');
    expect(z).toBe(y);
    expect(z.generations[0]).toBe(-1);
    expect(cache.table('x').generations[0]).toBe(5);
    expect(cache.table('y').generations[0]).toBe(-1);
  });

  it('keeps nothing for a pod without a signature', () => {
    const cache = new SignatureCache(1);
    expect(cache.unsharedTable()).not.toBe(cache.unsharedTable());
  });

  it('never takes a row with claims for current, because what claims mean is not in a signature', () => {
    const table = new SignatureCache(1).table('x');
    const claimed = new Builders().nodeInfo({ name: 'b' });
    claimed.index = 0;
    claimed.generation = 7;
    claimed.claims.set('u', { kind: 'nomination', claimant: new Builders().projectedPod(), nodeName: 'b' });
    table.reserve(1);
    table.markCurrent(claimed);
    expect(table.generations[0]).toBe(-1);
  });
});
