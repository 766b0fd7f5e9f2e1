import { describe, expect, it } from 'vitest';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { podsEqualForScheduling } from '../../api/pod.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { createNodeDeclaredFeatures } from './node-declared-features.ts';

const build = new Builders();
const plugin = createNodeDeclaredFeatures(undefined, pluginHandle(build));
const state = new CycleState();
const restarting: PodOptions = {
  spec: {
    containers: [{ name: 'main', restartPolicyRules: [{ action: 'Restart' }, { action: 'RestartAllContainers' }] }],
  },
};
const feature = 'RestartAllContainersOnContainerExits';

describe('required features of a pod', () => {
  it('must all be declared by the node; preemption does not help', () => {
    const pod = build.projectedPod({
      spec: { ...restarting.spec, hostNetwork: true, hostUsers: false },
    });
    const on = (declaredFeatures: readonly string[]): unknown =>
      plugin.filter!(state, pod, build.nodeInfo({ declaredFeatures }));
    expect(on([feature, 'SomethingElse'])).toMatchObject({
      code: 'UnschedulableAndUnresolvable',
      message: "node(s) didn't match Pod's required features",
    });
    expect(on([])).toBeDefined();
    expect(on([feature, 'UserNamespacesHostNetworkSupport'])).toBeUndefined();
  });

  it('skip Filter for a pod without any', () => {
    expect(plugin.preFilter!(state, build.projectedPod())).toMatchObject({ code: 'Skip' });
    expect(plugin.preFilter!(state, build.projectedPod(restarting))).toBeUndefined();
  });

  it('are part of the signature', () => {
    const sign = (options: PodOptions): string | undefined => plugin.sign!(build.projectedPod(options));
    const mounting = { spec: { containers: [{ volumeMounts: [{ bindMountOptions: ['noexec'] }] }] } };
    expect(new Set([sign({}), sign(restarting), sign(mounting)]).size).toBe(3);
    expect(sign(restarting)).toBe(sign({ ...restarting, name: 'another' }));
  });

  it('are read again after the pod changes', () => {
    const before = build.projectedPod({ uid: 'a' });
    expect(podsEqualForScheduling(before, build.projectedPod({ uid: 'a', ...restarting }))).toBe(false);
  });

  it('requeue the pod when a node that declares them is added, or a node starts to declare them', () => {
    const [registration] = plugin.eventsToRegister!();
    const pod = build.projectedPod(restarting);
    const helps = (before: readonly string[] | undefined, now: readonly string[]): boolean =>
      registration!.hint!(pod, {
        resource: 'Node',
        action: before === undefined ? 'Add' : 'Update',
        old: before && build.projectedNode({ declaredFeatures: before }),
        new: build.projectedNode({ declaredFeatures: now }),
      });
    expect([helps(undefined, [feature]), helps(undefined, [])]).toEqual([true, false]);
    expect([helps([], [feature]), helps([feature], [feature]), helps([feature], [])]).toEqual([true, false, false]);
  });
});
