import { describe, expect, it } from 'vitest';
import { parseManifests } from '../../manifests/parse-manifests.ts';
import { plannedObjects } from './planned-objects.ts';

function problemsOf(...objects: readonly object[]): readonly string[] {
  const text = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  return plannedObjects(parseManifests('x.yaml', text).manifests, 'default').problems;
}

function podSpec(cpu: string, more: object = {}): object {
  return { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu } } }], ...more };
}

function deployment(replicas: number): object {
  const spec = { replicas, template: { spec: podSpec('1') } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
}

describe('the problems of manifests', () => {
  it('are too many pods in all, where the limit is exceeded', () => {
    expect(problemsOf(deployment(12_000), deployment(8_000))).toEqual([]);
    expect(problemsOf(deployment(12_000), deployment(8_001), deployment(9))).toEqual([
      'x.yaml, document 2, line 3: Deployment web: kind: from here on, the files ask for more than 20000 pods in all',
    ]);
  });
});
