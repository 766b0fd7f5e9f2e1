import { describe, expect, it } from 'vitest';
import { writePatterns } from './request-pattern.ts';

const exchange = { at: 0, client: 'kubectl', method: 'GET', accept: 'application/json', status: 200 } as const;

function pathsAndQueries(...paths: string[]): string[] {
  const lines = writePatterns(paths.map((path) => ({ ...exchange, path }))).trimEnd();
  return lines.split('\n').map((line) => {
    const { path, query } = JSON.parse(line) as { path: string; query: string };
    return query === '' ? path : `${path}?${query}`;
  });
}

describe('Request pattern', () => {
  it('contains no names of objects', () => {
    expect(
      pathsAndQueries(
        '/api/v1/nodes/a',
        '/api/v1/namespaces/a',
        '/api/v1/namespaces/a/pods',
        '/api/v1/namespaces/a/pods/b',
        '/api/v1/namespaces/a/pods/b/binding',
        '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/a/podgroups/b/status',
        '/apis/apps/v1',
        '/openapi/v3/apis/apps/v1',
      ),
    ).toEqual([
      '/api/v1/namespaces/{namespace}/pods',
      '/api/v1/namespaces/{namespace}/pods/{name}',
      '/api/v1/namespaces/{namespace}/pods/{name}/binding',
      '/api/v1/namespaces/{name}',
      '/api/v1/nodes/{name}',
      '/apis/apps/v1',
      '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{namespace}/podgroups/{name}/status',
      '/openapi/v3/apis/apps/v1',
    ]);
  });

  it("keeps query values that change the server's behavior, and sorts the requirements of a selector", () => {
    expect(
      pathsAndQueries(
        '/api/v1/pods?watch=true&resourceVersion=7&limit=500',
        '/api/v1/pods?limit=1&resourceVersion=8&watch=true',
        '/api/v1/pods?fieldSelector=spec.nodeName%3Da%2Cstatus.phase!%3DFailed',
        '/api/v1/pods?fieldSelector=status.phase!%3DRunning%2Cspec.nodeName%3Db',
      ),
    ).toEqual([
      '/api/v1/pods?fieldSelector=spec.nodeName=…,status.phase!=…',
      '/api/v1/pods?limit&resourceVersion&watch=true',
    ]);
  });
});
