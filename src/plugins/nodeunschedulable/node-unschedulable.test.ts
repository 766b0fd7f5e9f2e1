import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { createNodeUnschedulable } from './node-unschedulable.ts';

const build = new Builders();
const plugin = createNodeUnschedulable(undefined, pluginHandle(build));
const state = new CycleState();
const tolerant = build.projectedPod({
  tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }],
});
const plain = build.projectedPod();

describe('a cordoned node', () => {
  const cordoned = build.nodeInfo({ unschedulable: true });

  it('is rejected, and preemption cannot help', () => {
    expect(plugin.filter!(state, plain, cordoned)).toMatchObject({
      code: 'UnschedulableAndUnresolvable',
      message: 'node(s) were unschedulable',
    });
  });

  it('accepts a pod that tolerates the taint of cordoned nodes', () => {
    expect(plugin.filter!(state, tolerant, cordoned)).toBeUndefined();
  });

  it('gives the same signature to pods with different tolerations for it', () => {
    const everything = build.projectedPod({ tolerations: [{ operator: 'Exists' }] });
    expect(plugin.sign!(everything)).toBe(plugin.sign!(tolerant));
    expect(plugin.sign!(plain)).not.toBe(plugin.sign!(tolerant));
  });
});

it('a node that is not cordoned accepts every pod', () => {
  expect(plugin.filter!(state, plain, build.nodeInfo())).toBeUndefined();
});

it('requeues a rejected pod when a node is uncordoned or added, not when one is cordoned', () => {
  const hint = plugin.eventsToRegister!().find(({ resource }) => resource === 'Node')!.hint!;
  const open = build.projectedNode();
  const cordoned = { ...open, unschedulable: true };
  expect(hint(plain, { resource: 'Node', action: 'Update', old: cordoned, new: open })).toBe(true);
  expect(hint(plain, { resource: 'Node', action: 'Update', old: open, new: open })).toBe(false);
  expect(hint(plain, { resource: 'Node', action: 'Update', old: open, new: cordoned })).toBe(false);
  expect(hint(plain, { resource: 'Node', action: 'Add', old: undefined, new: open })).toBe(true);
  expect(hint(plain, { resource: 'Node', action: 'Add', old: undefined, new: cordoned })).toBe(false);
});
