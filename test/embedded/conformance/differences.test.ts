import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/plane/apiserver/json.ts';
import { differences, unstated } from './differences.ts';
import type { Exchange } from './exchange.ts';

function exchange(answer: JsonValue, status = 200): Exchange {
  return { request: 'GET pods', status, headers: {}, answer };
}

const golden = [exchange({ spec: { taints: ['a'] }, kind: 'Node' })];
const limit = { case: 'nodes: any', exchange: 0, at: 'answer.spec', why: 'for a test' };

describe('the answers of two planes', () => {
  it('differ nowhere when they are the same', () => {
    expect(unstated(differences(golden, structuredClone(golden)), [])).toEqual([]);
  });

  it('differ where a value is another one, or only one has it', () => {
    const found = differences(golden, [exchange({ spec: { taints: ['b'] }, extra: 1, kind: 'Node' }, 500)]);
    expect(found.map(({ at }) => at)).toEqual(['status', 'answer.spec.taints[0]', 'answer.extra']);
    expect(unstated(found, [])).toHaveLength(3);
  });

  it('differ when one of them has said more', () => {
    expect(differences(golden, [])).toMatchObject([{ exchange: 0, at: '' }]);
    expect(differences(golden, [...golden, ...golden])).toMatchObject([{ exchange: 1, at: '' }]);
  });

  it('may differ where a limit says so, and below', () => {
    const found = differences(golden, [exchange({ spec: {}, kind: 'Node' })]);
    expect(unstated(found, [limit])).toEqual([]);
    expect(unstated(found, [{ ...limit, at: 'answer.spec.tain' }])).toHaveLength(2);
  });

  it('must still differ where a limit says so', () => {
    expect(unstated(differences(golden, golden), [limit])).toEqual([
      '0: limits.ts states that answer.spec differs, and it does not',
    ]);
  });
});
