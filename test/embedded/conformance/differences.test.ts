import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/plane/apiserver/json.ts';
import { differences, unstated } from './differences.ts';
import type { Exchange } from './exchange.ts';

function exchange(answer: JsonValue, status = 200): Exchange {
  return { request: 'GET pods', status, headers: {}, answer };
}

const golden = [exchange({ spec: { taints: ['a'] }, kind: 'Node' })];
const limit = { case: 'nodes: any', exchange: 0, at: 'answer.spec', why: 'for a test' };

describe('differences and unstated', () => {
  it('find nothing in equal recordings', () => {
    expect(unstated(differences(golden, structuredClone(golden)), [])).toEqual([]);
  });

  it('find changed values, and values that only one recording has', () => {
    const found = differences(golden, [exchange({ spec: { taints: ['b'] }, extra: 1, kind: 'Node' }, 500)]);
    expect(found.map(({ at }) => at)).toEqual(['status', 'answer.spec.taints[0]', 'answer.extra']);
    expect(unstated(found, [])).toHaveLength(3);
  });

  it('find exchanges that only one recording has', () => {
    expect(differences(golden, [])).toMatchObject([{ exchange: 0, at: '' }]);
    expect(differences(golden, [...golden, ...golden])).toMatchObject([{ exchange: 1, at: '' }]);
  });

  it('accept a difference at a stated limit, and below it', () => {
    const found = differences(golden, [exchange({ spec: {}, kind: 'Node' })]);
    expect(unstated(found, [limit])).toEqual([]);
    expect(unstated(found, [{ ...limit, at: 'answer.spec.tain' }])).toHaveLength(2);
  });

  it('report a stated limit without a difference', () => {
    expect(unstated(differences(golden, golden), [limit])).toEqual([
      '0: limits.ts states that answer.spec differs, and it does not',
    ]);
  });
});
