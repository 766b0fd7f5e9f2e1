import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json.ts';
import { lastPodColumns, podColumns, podStatus } from './pod-columns.ts';

function pod(status: JsonObject, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    metadata: { name: 'p', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { containers: [{ name: 'a' }, { name: 'b' }], ...spec },
    status,
  };
}

const running = { ready: true, restartCount: 0, state: { running: {} } };
const completed = { state: { terminated: { reason: 'Completed', exitCode: 0 } } };
const deleted = { deletionTimestamp: '2026-01-01T00:01:00Z' };

describe('the status column of a pod', () => {
  it.each<[string, JsonObject]>([
    ['Pending', pod({ phase: 'Pending' })],
    ['SchedulingGated', pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] })],
    [
      'ContainerCreating',
      pod({ phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] }),
    ],
    ['Running', pod({ phase: 'Running', containerStatuses: [running] })],
    [
      'Completed',
      pod({ phase: 'Succeeded', containerStatuses: [{ state: { terminated: { reason: 'Completed', exitCode: 0 } } }] }),
    ],
    [
      'Error',
      pod({ phase: 'Failed', containerStatuses: [{ state: { terminated: { reason: 'Error', exitCode: 3 } } }] }),
    ],
    ['OutOfcpu', pod({ phase: 'Failed', reason: 'OutOfcpu' })],
    ['Terminating', pod({ phase: 'Running', containerStatuses: [running] }, {}, deleted)],
    ['Completed', pod({ phase: 'Succeeded', containerStatuses: [completed] }, {}, deleted)],
    [
      'Init:0/1',
      pod({
        phase: 'Pending',
        initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'PodInitializing' } } }],
      }),
    ],
  ])('shows %s', (word, object) => {
    expect(podStatus(object)).toBe(word);
  });
});

describe('the row of a pod', () => {
  it('shows ready containers, restarts and the node', () => {
    const status = {
      phase: 'Running',
      podIP: '10.0.0.1',
      containerStatuses: [
        { ...running, restartCount: 2 },
        { ...running, ready: false },
      ],
    };
    const object = pod(status, { nodeName: 'n1' });
    const cells = [...podColumns, ...lastPodColumns].map((column) => column.cell(object, 0));
    expect(cells).toEqual(['1/2', 'Running', '2', '10.0.0.1', 'n1', '<none>']);
    expect(lastPodColumns.every((column) => column.priority > 0)).toBe(true);
  });
});
