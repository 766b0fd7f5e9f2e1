import { expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { ConflictError } from '../../client/api-errors.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { createDefaultBinder } from './default-binder.ts';
import { setBindingTerms } from '../../framework/binding-terms.ts';

const build = new Builders();
const pod = build.projectedPod({ namespace: 'team', name: 'red-0' });
const { signal } = new AbortController();

it("sends a Binding with the pod's uid and the cycle's annotations", async () => {
  const bindings: PodBinding[] = [];
  const signals: AbortSignal[] = [];
  const binder = {
    bind: async (binding: PodBinding, given: AbortSignal): Promise<void> => {
      bindings.push(binding);
      signals.push(given);
    },
  };
  const plugin = createDefaultBinder(undefined, pluginHandle(build, { binder }));
  const state = new CycleState();
  setBindingTerms(state, { annotations: { 'tutti.dev/plan': 'p1' } });
  expect(await plugin.bind!(state, pod, 'a', signal)).toBeUndefined();
  expect(await plugin.bind!(new CycleState(), pod, 'b', signal)).toBeUndefined();
  const named = { namespace: 'team', name: 'red-0', uid: pod.uid };
  expect(bindings).toEqual([
    { ...named, nodeName: 'a', annotations: { 'tutti.dev/plan': 'p1' } },
    { ...named, nodeName: 'b', annotations: {} },
  ]);
  expect(signals).toEqual([signal, signal]);
});

it("turns a rejected Binding into an Error status with the client's error as its cause", async () => {
  const conflict = new ConflictError('pod red-0 is already assigned to node "b"', {
    status: 409,
    reason: 'Conflict',
    request: 'POST /api/v1/namespaces/team/pods/red-0/binding',
    causes: [],
  });
  const plugin = createDefaultBinder({}, pluginHandle(build, { binder: { bind: () => Promise.reject(conflict) } }));
  const status = await plugin.bind!(new CycleState(), pod, 'a', signal);
  expect(status).toMatchObject({
    code: 'Error',
    plugin: 'DefaultBinder',
    message: 'binding rejected: pod red-0 is already assigned to node "b"',
  });
  expect(status?.cause).toBe(conflict);
});
