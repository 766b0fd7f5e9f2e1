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

function pod(metadata: object, spec: object = {}): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', ...metadata }, spec: { ...podSpec('1'), ...spec } };
}

describe('the problems of manifests', () => {
  it.each([
    ['metadata.labels', pod({ labels: { app: 1 } }), 'an object whose values are texts; quote numbers and booleans'],
    ['metadata.ownerReferences', pod({ ownerReferences: [null] }), 'a list of objects'],
    ['spec.schedulingGates', pod({}, { schedulingGates: 'x' }), 'a list of objects'],
    ['spec.volumes', pod({}, { volumes: [null] }), 'a list of objects'],
    ['spec.tolerations', pod({}, { tolerations: 5 }), 'a list of objects'],
    ['spec.affinity', pod({}, { affinity: 'x' }), 'an object'],
    ['spec.priority', pod({}, { priority: 'high' }), 'a whole 32-bit number'],
  ])('are fields of another type: %s', (field, object, type) => {
    expect(problemsOf(object)).toEqual([`x.yaml, document 1, line 1: Pod x: ${field}: must be ${type}`]);
  });

  it('are fields of another type in a template, and ordinals', () => {
    const template = { metadata: { labels: ['x'] }, spec: podSpec('1', { nodeSelector: { disk: true } }) };
    const spec = { replicas: 1, ordinals: { start: 'x' }, template };
    const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'x' }, spec };
    expect(problemsOf(set).map((problem) => problem.split(': ')[2])).toEqual([
      'spec.ordinals.start',
      'spec.template.metadata.labels',
      'spec.template.spec.nodeSelector',
    ]);
  });

  it('are no fields that are null or absent', () => {
    const nothing = { labels: null, annotations: null, ownerReferences: null };
    expect(problemsOf(pod(nothing, { volumes: null, affinity: null, priority: null }))).toEqual([]);
  });

  it('are negative requests, which would add capacity', () => {
    expect(problemsOf(pod({}, podSpec('-1')))).toEqual([
      'x.yaml, document 1, line 1: Pod x: spec.containers[0].resources.requests[cpu]: must not be negative',
    ]);
  });

  it('are too many pods in all, where the limit is exceeded', () => {
    expect(problemsOf(deployment(12_000), deployment(8_000))).toEqual([]);
    expect(problemsOf(deployment(12_000), deployment(8_001), deployment(9))).toEqual([
      'x.yaml, document 2, line 3: Deployment web: kind: from here on, the files ask for more than 20000 pods in all',
    ]);
  });
});
