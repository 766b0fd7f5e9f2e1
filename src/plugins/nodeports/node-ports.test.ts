import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { createNodePorts } from './node-ports.ts';

type Ports = NonNullable<PodOptions['hostPorts']>;

const build = new Builders();
const plugin = createNodePorts(undefined, pluginHandle(build));
const state = new CycleState();

function fits(wanted: Ports, used: Ports): boolean {
  const node = build.nodeInfo({}, [{ hostPorts: used }]);
  return plugin.filter!(state, build.projectedPod({ hostPorts: wanted }), node) === undefined;
}

describe('host ports', () => {
  it('reject a node where one is in use; preemption may help', () => {
    const node = build.nodeInfo({}, [{ hostPorts: [80] }]);
    expect(plugin.filter!(state, build.projectedPod({ hostPorts: [8080, 80] }), node)).toMatchObject({
      code: 'Unschedulable',
      message: "node(s) didn't have free ports for the requested pod ports",
    });
  });

  it.each<[string, Ports, Ports, boolean]>([
    ['another port', [81], [80], true],
    ['another protocol', [{ hostPort: 53, protocol: 'UDP' }], [53], true],
    ['no protocol means TCP', [{ hostPort: 53, protocol: 'TCP' }], [53], false],
    ['two addresses', [{ hostPort: 80, hostIP: '10.0.0.1' }], [{ hostPort: 80, hostIP: '10.0.0.2' }], true],
    ['the same address', [{ hostPort: 80, hostIP: '10.0.0.1' }], [{ hostPort: 80, hostIP: '10.0.0.1' }], false],
    ['all addresses requested', [80], [{ hostPort: 80, hostIP: '10.0.0.2' }], false],
    ['all addresses in use', [{ hostPort: 80, hostIP: '10.0.0.2' }], [{ hostPort: 80, hostIP: '0.0.0.0' }], false],
  ])('conflict as in Kubernetes: %s', (_, requested, used, expected) => {
    expect(fits(requested, used)).toBe(expected);
  });

  it('skip Filter for a pod without any', () => {
    expect(plugin.preFilter!(state, build.projectedPod())).toMatchObject({ code: 'Skip' });
    expect(plugin.preFilter!(state, build.projectedPod({ hostPorts: [80] }))).toBeUndefined();
  });

  it('are part of the signature', () => {
    const sign = (hostPorts: Ports): string | undefined => plugin.sign!(build.projectedPod({ hostPorts }));
    expect(sign([80])).toBe(sign([80]));
    expect(new Set([sign([80]), sign([81]), sign([])]).size).toBe(3);
  });

  it('requeue the pod only when a pod with one of them is deleted or a node is added', () => {
    const [podGone, nodeAdded] = plugin.eventsToRegister!();
    const pod = build.projectedPod({ hostPorts: [80] });
    const gone = (hostPorts: Ports): boolean =>
      podGone!.hint!(pod, { resource: 'AssignedPod', action: 'Delete', pod: build.projectedPod({ hostPorts }) });
    expect([gone([80]), gone([81]), gone([])]).toEqual([true, false, false]);
    expect(nodeAdded).toEqual({ resource: 'Node', actions: ['Add'] });
  });
});
