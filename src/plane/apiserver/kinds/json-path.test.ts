import { describe, expect, it } from 'vitest';
import { compileJsonPath } from './json-path.ts';

const document = {
  metadata: { labels: { 'a.b/c': 'x' } },
  spec: { ports: [{ port: 1 }, { port: 2 }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Failed', status: 'False' },
    ],
  },
};

describe('compileJsonPath', () => {
  it.each([
    ['.spec.ports[0].port', [1]],
    ['.spec.ports[-1].port', [2]],
    ['.spec.ports[*].port', [1, 2]],
    [".metadata.labels['a.b/c']", ['x']],
    ['.metadata.labels.a\\.b/c', ['x']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.status!='True')].type", ['Failed']],
    ['.spec.ports[?(@.port==2)].port', [2]],
    ['{.spec.ports[0].port}', [1]],
    ['.spec.nothing.here', []],
    ['.spec.ports.port', []],
  ])('%s finds %j', (path, found) => {
    expect(compileJsonPath(path)!(document)).toEqual(found);
  });

  it.each(['spec', '.a[', '.a[?(@.b>1)]', '.a[x]', '..a'])('returns undefined for the unsupported path %s', (path) => {
    expect(compileJsonPath(path)).toBeUndefined();
  });
});
