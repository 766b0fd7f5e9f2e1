import { expect, it } from 'vitest';
import { observeGroup, observeJob, observeNode, observePod, shownName } from './observed.ts';

it('reads a pod', () => {
  const pod = {
    metadata: {
      uid: 'u',
      namespace: 'team',
      name: 'a',
      labels: { 'scheduling.x-k8s.io/pod-group': 'red' },
    },
    spec: {
      nodeName: '',
      containers: [{ resources: { requests: { cpu: '1500m', memory: '1Gi', 'nvidia.com/gpu': '2' } } }],
    },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no capacity' }],
    },
  };
  expect(observePod(pod)).toEqual({
    key: 'team/a',
    uid: 'u',
    namespace: 'team',
    name: 'a',
    group: 'team/red',
    lookAlikes: [],
    owner: undefined,
    isOfJob: false,
    nodeName: undefined,
    phase: 'Pending',
    verdict: 'no capacity',
    failure: undefined,
    requests: { cpu: 1_500, 'nvidia.com/gpu': 2 },
  });
});

it('names the workload of a pod: for the pods of a ReplicaSet, its Deployment', () => {
  const ownedBy = (kind: string, name: string): string | undefined =>
    observePod({ metadata: { namespace: 'team', ownerReferences: [{ kind, name, controller: true }] } }).owner;
  expect(ownedBy('Job', 'red')).toBe('Job team/red');
  expect(ownedBy('ReplicaSet', 'red-web-5d9f')).toBe('Deployment team/red-web');
});

it('reads a node', () => {
  const node = { metadata: { name: 'a' }, status: { allocatable: { cpu: '2', memory: '8Gi', 'nvidia.com/gpu': '8' } } };
  expect(observeNode(node)).toEqual({ name: 'a', allocatable: { cpu: 2_000, 'nvidia.com/gpu': 8 } });
  expect(observeNode({})).toEqual({ name: '', allocatable: {} });
});

it('reads why a pod failed', () => {
  expect(observePod({ status: { phase: 'Failed', reason: 'OutOfcpu', message: 'no cpu left' } }).failure).toBe(
    'OutOfcpu: no cpu left',
  );
  const containerStatuses = [
    { name: 'a', state: { terminated: { exitCode: 0 } } },
    { name: 'b', state: { terminated: { exitCode: 3 } } },
  ];
  expect(observePod({ status: { phase: 'Failed', containerStatuses } }).failure).toBe('container b exited with 3');
  expect(observePod({ status: { phase: 'Failed' } }).failure).toBe('failed');
});

it('accepts objects with missing or invalid fields', () => {
  const pod = { spec: { containers: [{ resources: { requests: { cpu: 'much' } } }] }, status: { phase: 'Odd' } };
  expect(observePod(pod)).toMatchObject({ requests: {}, phase: 'Unknown', group: undefined });
  expect(observePod({})).toMatchObject({ key: '/', phase: 'Pending' });
  expect(observeGroup({ metadata: { namespace: 'default', name: 'red' } }).minMember).toBe(1);
});

it('omits the default namespace from names', () => {
  expect([shownName('default/red'), shownName('team/red')]).toEqual(['red', 'team/red']);
});

it('makes what users wrote safe to show', () => {
  const hostile = `\u001b[2J\n\u202e${'x'.repeat(200_000)}`;
  const pod = {
    metadata: { namespace: 'default', name: 'a', annotations: { 'scheduling.x-k8s.io/pod-group': hostile } },
    status: {
      phase: 'Failed',
      reason: 'Error',
      message: hostile,
      conditions: [{ type: 'PodScheduled', status: 'False', message: hostile }],
    },
  };
  const { group, verdict, failure } = observePod(pod);
  const job = observeJob({ status: { conditions: [{ type: 'Failed', status: 'True', reason: hostile }] } });
  for (const text of [group, verdict, failure, job.reason]) {
    expect(text).toMatch(/^[ -~]*\\u001b\[2J\\u000a\\u202ex+…$/);
    expect(text!.length).toBeLessThanOrEqual(1_024);
  }
});
