import { describe, expect, it, vi } from 'vitest';
import { compileJsonPath } from './json-path.ts';

const document = {
  spec: { ports: [{ port: 1 }, { port: 2 }], 'max-size': 3 },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Failed', status: 'False' },
    ],
  },
};

describe('compileJsonPath', () => {
  it.each([
    ['.spec.max-size', [3]],
    ['.spec.ports', [[{ port: 1 }, { port: 2 }]]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.status.conditions[?(@.type=="Other")].status', []],
    ['.status.conditions[?(@.constructor=="Ready")].status', []],
    ['.spec.nothing.here', []],
    ['.spec.toString', []],
    ['.spec.ports.port', []],
    ['.spec[?(@.port=="1")]', []],
  ])('%s finds %j', (path, found) => {
    expect(compileJsonPath(path)!(document)).toEqual(found);
  });

  it.each(['', 'spec', '.a[', '.a[0]', '.a[*]', ".a['b']", '.a[?(@.b>1)]', '.a[x]', '..a', '{.a}', '.a\\.b'])(
    'returns undefined for the unsupported path %s',
    (path) => {
      expect(compileJsonPath(path)).toBeUndefined();
    },
  );

  it('returns undefined for a path of more than 1,000 characters, without parsing it', () => {
    const parse = vi.spyOn(String.prototype, 'matchAll');
    expect(compileJsonPath('.a'.repeat(501))).toBeUndefined();
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});
