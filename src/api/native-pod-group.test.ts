import { describe, expect, it } from 'vitest';
import { MalformedObjectError } from './malformed-object-error.ts';
import { projectNativePodGroup } from './native-pod-group.ts';

const metadata = { uid: 'u1', namespace: 'ns', name: 'red', resourceVersion: '7' };
const basic = { schedulingPolicy: { basic: {} } };
const scheduled = { type: 'PodGroupInitiallyScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };

describe('projectNativePodGroup', () => {
  it.each([null, 'x', 7, {}, [null], [7, { type: 7 }], [{}]])('reads a group with the conditions %j', (conditions) => {
    expect(projectNativePodGroup({ metadata, spec: basic, status: { conditions } }).scheduled).toBeUndefined();
  });

  it('finds the condition among malformed ones', () => {
    const status = { conditions: [null, scheduled] };
    expect(projectNativePodGroup({ metadata, spec: basic, status }).scheduled).toEqual(scheduled);
  });

  it.each<readonly [object, string]>([
    [{}, 'spec.schedulingPolicy'],
    [{ schedulingPolicy: null }, 'spec.schedulingPolicy'],
    [{ schedulingPolicy: { gang: null } }, 'spec.schedulingPolicy.gang.minCount'],
    ...[0, -1, 1.5, '2', null, undefined].map(
      (minCount) => [{ schedulingPolicy: { gang: { minCount } } }, 'spec.schedulingPolicy.gang.minCount'] as const,
    ),
    [{ ...basic, schedulingConstraints: { topology: {} } }, 'spec.schedulingConstraints.topology'],
    [{ ...basic, schedulingConstraints: { topology: [{ key: 7 }] } }, 'spec.schedulingConstraints.topology'],
    [{ ...basic, parentCompositePodGroupName: 7 }, 'spec.parentCompositePodGroupName'],
    [{ ...basic, priority: '7' }, 'spec.priority'],
  ])('rejects the spec %j and names the field', (spec, path) => {
    const project = (): unknown => projectNativePodGroup({ metadata, spec });
    expect(project).toThrow(MalformedObjectError);
    expect(project).toThrow(path);
  });

  it.each([undefined, null, 'x', { metadata: null }, { metadata: { ...metadata, uid: 7 } }])('rejects %j', (object) => {
    expect(() => projectNativePodGroup(object)).toThrow(MalformedObjectError);
  });
});
