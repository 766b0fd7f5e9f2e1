import { describe, expect, it } from 'vitest';
import { MalformedObjectError } from './malformed-object-error.ts';
import { podGroupPath, podGroupPhaseOf, projectPodGroup } from './pod-group.ts';
import { formatQuantity } from './quantity.ts';

const metadata = {
  uid: 'u1',
  namespace: 'ns',
  name: 'red',
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
};

describe('projectPodGroup', () => {
  it('keeps what the scheduler and the controller read', () => {
    const group = projectPodGroup({
      metadata,
      spec: { minMember: 3, minResources: { cpu: '1500m', memory: 1024 }, scheduleTimeoutSeconds: 10 },
      status: { phase: 'Running', running: 3 },
    });
    expect(group).toMatchObject({
      uid: 'u1',
      key: 'ns/red',
      generation: 2,
      resourceVersion: '7',
      creationTimestamp: Date.UTC(2026, 0, 1),
      minMember: 3,
      scheduleTimeoutSeconds: 10,
      status: { phase: 'Running', running: 3 },
    });
    expect([...group.minResources!].map(([name, amount]) => `${name}=${formatQuantity(amount)}`)).toEqual([
      'cpu=1500m',
      'memory=1024',
    ]);
  });

  it('uses 1 for an absent minMember, because zero pods would satisfy a quorum of 0', () => {
    expect(projectPodGroup({ metadata })).toMatchObject({ minMember: 1, minResources: undefined, status: {} });
  });

  it.each<[string, string, unknown]>([
    ['metadata.uid', 'PodGroup ns/red: metadata.uid must be', { metadata: { ...metadata, uid: undefined } }],
    ['metadata.name', 'PodGroup ns: metadata.name must be', { metadata: { ...metadata, name: 7 } }],
    ['metadata.creationTimestamp', 'RFC 3339', { metadata: { ...metadata, creationTimestamp: 'noon' } }],
    ['spec', 'must be an object', { metadata, spec: [] }],
    ['spec.minMember', 'whole 32-bit number of at least 1, not 0', { metadata, spec: { minMember: 0 } }],
    ['spec.minMember', 'not -2', { metadata, spec: { minMember: -2 } }],
    ['spec.minMember', 'not "3"', { metadata, spec: { minMember: '3' } }],
    ['spec.scheduleTimeoutSeconds', 'not 1.5', { metadata, spec: { scheduleTimeoutSeconds: 1.5 } }],
    ['spec.minResources', 'must map resource names', { metadata, spec: { minResources: 'much' } }],
    ['spec.minResources["cpu"]', '"1 core" is not a quantity', { metadata, spec: { minResources: { cpu: '1 core' } } }],
    ['metadata.uid', 'PodGroup: metadata.uid', null],
  ])('rejects a malformed %s: %s', (path, message, input) => {
    const project = (): unknown => projectPodGroup(input);
    expect(project).toThrow(MalformedObjectError);
    expect(project).toThrow(expect.objectContaining({ path, kind: 'PodGroup' }) as Error);
    expect(project).toThrow(message);
  });

  it('accepts any status, because other controllers may have written it', () => {
    expect(projectPodGroup({ metadata, status: 'broken' }).status).toEqual({});
    expect(podGroupPhaseOf(projectPodGroup({ metadata, status: { phase: 'PreScheduling' } }).status)).toBe('Unknown');
  });
});

it('returns undefined for a phase that is not set', () => {
  expect(podGroupPhaseOf({})).toBeUndefined();
  expect(podGroupPhaseOf({ phase: '' })).toBeUndefined();
  expect(podGroupPhaseOf({ phase: 'Finished' })).toBe('Finished');
});

it('escapes the parts of paths', () => {
  expect(podGroupPath()).toBe('/apis/scheduling.x-k8s.io/v1alpha1/podgroups');
  expect(podGroupPath('a b')).toBe('/apis/scheduling.x-k8s.io/v1alpha1/namespaces/a%20b/podgroups');
  expect(podGroupPath('ns', 'x/y')).toBe('/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ns/podgroups/x%2Fy');
});
