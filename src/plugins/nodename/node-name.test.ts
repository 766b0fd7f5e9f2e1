import { expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { createNodeName } from './node-name.ts';

const build = new Builders();
const plugin = createNodeName(undefined, pluginHandle(build));
const state = new CycleState();
const bound = build.projectedPod({ nodeName: 'a' });

it('restricts a pod to the node it names', () => {
  expect(plugin.filter!(state, bound, build.nodeInfo({ name: 'a' }))).toBeUndefined();
  expect(plugin.filter!(state, bound, build.nodeInfo({ name: 'b' }))).toMatchObject({
    code: 'UnschedulableAndUnresolvable',
    message: "node(s) didn't match the requested node name",
  });
});

it('accepts every node for a pod that names none', () => {
  expect(plugin.filter!(state, build.projectedPod(), build.nodeInfo({ name: 'b' }))).toBeUndefined();
  expect(plugin.sign!(build.projectedPod())).not.toBe(plugin.sign!(bound));
});

it('requeues a pod only for the node it names', () => {
  const { hint } = plugin.eventsToRegister!()[0]!;
  const added = (name: string): boolean =>
    hint!(bound, { resource: 'Node', action: 'Add', old: undefined, new: build.projectedNode({ name }) });
  expect([added('a'), added('b')]).toEqual([true, false]);
});
