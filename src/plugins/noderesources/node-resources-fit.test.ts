import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import { commonResources } from '../../api/resource-names.ts';
import { collectGarbage } from '../../base/testing/collect-garbage.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Status } from '../../framework/status.ts';
import { createNodeResourcesFit } from './node-resources-fit.ts';

const build = new Builders();
const handle = pluginHandle(build);
const plugin = createNodeResourcesFit(undefined, handle);
const state = new CycleState();

const check = (pod: PodOptions, node: NodeOptions, running: PodOptions[] = [], tested = plugin): Status | undefined =>
  tested.filter!(state, build.projectedPod(pod), build.nodeInfo(node, running));

describe('NodeResourcesFit', () => {
  it('accepts a pod that uses exactly the free capacity', () => {
    expect(check({ cpu: '500m', memory: '1Gi' }, { cpu: 1, memory: '2Gi' }, [{ cpu: '500m', memory: '1Gi' }])).toBe(
      undefined,
    );
  });

  it('accepts a pod that requests nothing on a full node', () => {
    expect(check({}, { cpu: 1 }, [{ cpu: 2 }])).toBeUndefined();
  });

  it.each<[string, PodOptions, NodeOptions, PodOptions[]]>([
    ['Insufficient cpu', { cpu: '501m' }, { cpu: 1 }, [{ cpu: '500m' }]],
    ['Insufficient memory', { memory: '1025Mi' }, { memory: '2Gi' }, [{ memory: '1Gi' }]],
    [
      'Insufficient example.com/gpu',
      { requests: { 'example.com/gpu': 1 } },
      { allocatable: { 'example.com/gpu': 2 } },
      [{ requests: { 'example.com/gpu': 2 } }],
    ],
    ['Too many pods', {}, { pods: 1 }, [{}]],
    // As in kube-scheduler, whether or not preemption could help.
    ['Too many pods', {}, { pods: 0 }, []],
    [
      'Insufficient cpu, Insufficient memory',
      { cpu: 1, memory: '1Gi' },
      { cpu: 1, memory: '1Gi' },
      [{ cpu: 1, memory: 1 }],
    ],
  ])('rejects with %s if preemption may help', (reason, pod, node, running) => {
    expect(check(pod, node, running)).toMatchObject({
      code: 'Unschedulable',
      message: reason,
      plugin: 'NodeResourcesFit',
    });
  });

  it.each<[string, PodOptions, NodeOptions]>([
    ['Insufficient cpu', { cpu: 5 }, { cpu: 4 }],
    ['Insufficient example.com/gpu', { requests: { 'example.com/gpu': 1 } }, {}],
  ])('rejects with %s as unresolvable if even the empty node is too small', (reason, pod, node) => {
    expect(check(pod, node)).toMatchObject({ code: 'UnschedulableAndUnresolvable', message: reason });
  });

  it('rejects as unresolvable if the empty node has too little of one of several short resources', () => {
    expect(check({ cpu: 1, memory: '32Gi' }, { cpu: 1, memory: '16Gi' }, [{ cpu: 1 }])).toMatchObject({
      code: 'UnschedulableAndUnresolvable',
      message: 'Insufficient cpu, Insufficient memory',
    });
  });

  it('returns the same object for equal rejections', () => {
    const reject = (): Status | undefined =>
      check({ cpu: 1, memory: '1Gi' }, { cpu: 1, memory: '1Gi' }, [{ cpu: 1, memory: 1 }]);
    expect(reject()).toBe(reject());
  });

  it('accepts a pod exactly if no resource is overcommitted afterwards', () => {
    const amounts = fc.record({
      cpu: fc.integer({ min: 0, max: 6 }),
      memory: fc.integer({ min: 0, max: 6 }),
      requests: fc.record({ 'example.com/gpu': fc.integer({ min: 0, max: 6 }) }),
    });
    const few = fc.array(amounts, { maxLength: 3 });
    fc.assert(
      fc.property(amounts, amounts, few, fc.integer({ min: 0, max: 4 }), (pod, node, running, pods) => {
        const status = check(pod, { cpu: node.cpu, memory: node.memory, allocatable: node.requests, pods }, running);
        const short = (amount: (of: typeof pod) => number): boolean =>
          amount(pod) > 0 && amount(pod) + running.reduce((sum, other) => sum + amount(other), 0) > amount(node);
        const expected = [
          short((of) => of.cpu) && 'Insufficient cpu',
          short((of) => of.memory) && 'Insufficient memory',
          running.length + 1 > pods && 'Too many pods',
          short((of) => of.requests['example.com/gpu']) && 'Insufficient example.com/gpu',
        ].filter((reason) => reason !== false);
        expect(status?.message).toBe(expected.length === 0 ? undefined : expected.join(', '));
      }),
    );
  });
});

describe('ignored resources', () => {
  const ignoring = createNodeResourcesFit(
    { ignoredResources: ['example.com/slot', 'cpu'], ignoredResourceGroups: ['fpga.example', 'kubernetes.io'] },
    handle,
  );

  it('are not checked, by name or by group', () => {
    const pod = { requests: { 'example.com/slot': 1, 'fpga.example/x': 1, 'fpga.example/y': 1 } };
    expect(check(pod, {}, [], ignoring)).toBeUndefined();
    expect(check({ requests: { ...pod.requests, 'example.com/other': 1 } }, {}, [], ignoring)).toMatchObject({
      message: 'Insufficient example.com/other',
    });
  });

  it('are never those of Kubernetes itself', () => {
    expect(check({ cpu: 5, requests: { 'kubernetes.io/batch-cpu': 1 } }, { cpu: 4 }, [], ignoring)).toMatchObject({
      message: 'Insufficient cpu, Insufficient kubernetes.io/batch-cpu',
    });
  });
});

describe('hints', () => {
  const hintFor = (resource: string): NonNullable<ReturnType<NonNullable<typeof plugin.eventsToRegister>>[0]['hint']> =>
    plugin.eventsToRegister!().find((registration) => registration.resource === resource)!.hint!;
  const known = (options: NodeOptions): ReturnType<Builders['projectedNode']> => {
    const node = build.projectedNode(options);
    handle.cluster.setNode(node);
    return node;
  };

  it('requeue a pod when another one is deleted and the pod then fits the node', () => {
    known({ name: 'full', cpu: 2 });
    const [first, second] = build.projectedPods(2, { cpu: 1, nodeName: 'full' });
    for (const pod of [first!, second!]) handle.cluster.setPod(pod);
    const waiting = build.projectedPod({ cpu: 2 });
    const left = (pod: typeof waiting): boolean => {
      handle.cluster.removePod(pod.uid);
      return hintFor('AssignedPod')(waiting, { resource: 'AssignedPod', action: 'Delete', pod });
    };
    expect(left(first!)).toBe(false);
    expect(left(second!)).toBe(true);
  });

  it('requeue a pod when a pod on a node requests less and the pod then fits the node', () => {
    known({ name: 'a', cpu: 4 });
    const [before, after] = [4, 1].map((cpu) => build.projectedPod({ name: 'x', uid: 'x', cpu, nodeName: 'a' }));
    handle.cluster.setPod(after!);
    const update = (old: Pod, pod: Pod): ClusterEvent => ({ resource: 'AssignedPod', action: 'Update', old, pod });
    const asks = (cpu: number): Pod => build.projectedPod({ cpu });
    expect(hintFor('AssignedPod')(asks(3), update(before!, after!))).toBe(true);
    expect(hintFor('AssignedPod')(asks(4), update(before!, after!))).toBe(false);
    expect(hintFor('AssignedPod')(asks(3), update(after!, after!))).toBe(false);
  });

  it('do not requeue a pod for capacity on a deleted node', () => {
    const pod = build.projectedPod({ nodeName: 'gone' });
    expect(hintFor('AssignedPod')(build.projectedPod(), { resource: 'AssignedPod', action: 'Delete', pod })).toBe(
      false,
    );
  });

  it('requeue a pod for a new node only if the pod fits it', () => {
    const node = known({ name: 'new', cpu: 2 });
    const added = (cpu: number): boolean =>
      hintFor('Node')(build.projectedPod({ cpu }), { resource: 'Node', action: 'Add', old: undefined, new: node });
    expect([added(2), added(3)]).toEqual([true, false]);
  });

  it('requeue a pod when a requested resource of a node grows and the pod fits', () => {
    const before = build.projectedNode({ name: 'growing', cpu: 2, memory: '1Gi' });
    const pod = build.projectedPod({ cpu: 3 });
    const grows = (options: NodeOptions): boolean => {
      const node = known({ name: 'growing', cpu: 2, memory: '1Gi', ...options });
      return hintFor('Node')(pod, { resource: 'Node', action: 'Update', old: before, new: node });
    };
    expect(grows({ cpu: 3 })).toBe(true);
    expect(grows({ memory: '2Gi' })).toBe(false);
    expect(grows({ cpu: '2500m' })).toBe(false);
    const small = build.projectedPod({ cpu: 1 });
    const same = known({ name: 'growing', cpu: 2, memory: '1Gi', labels: { a: '1' } });
    expect(hintFor('Node')(small, { resource: 'Node', action: 'Update', old: before, new: same })).toBe(false);
  });
});

it('signs pods with equal requests equally', () => {
  const sign = (pod: PodOptions): string | undefined => plugin.sign!(build.projectedPod(pod));
  expect(sign({ cpu: 1, labels: { index: '0' } })).toBe(sign({ cpu: '1000m', labels: { index: '1' } }));
  const zeroOnPurpose = { cpu: 0, memory: 0 };
  expect(new Set([sign({}), sign({ cpu: 1 }), sign({ memory: 1000 }), sign(zeroOnPurpose)]).size).toBe(4);
});

describe('unknown resources in pod requests', () => {
  const madeUp = (pod: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`example.com/p${pod}-${i}`, '1']));

  it('are named in the reason, and are forgotten when their pods are gone', async () => {
    const build = new Builders();
    const plugin = createNodeResourcesFit(undefined, pluginHandle(build));
    const node = build.nodeInfo({ cpu: 1 });
    for (let pod = 0; pod < 50; pod++) {
      const made = build.projectedPod({ name: `odd-${pod}`, cpu: 2, requests: madeUp(pod) });
      const reasons = plugin.filter!(new CycleState(), made, node)!.reasons;
      expect([reasons.length, reasons[0], reasons[1]]).toEqual([
        1_001,
        'Insufficient cpu',
        `Insufficient example.com/p${pod}-0`,
      ]);
    }
    await collectGarbage(() => build.resources.size <= commonResources + 1_000);
  });
});
