import type { CaseGroup } from '../conformance-case.ts';
import { binding, pod } from './objects.ts';

const placed = ({ spec, metadata, status }: any): unknown => ({
  node: spec.nodeName ?? 'none',
  annotations: metadata.annotations ?? {},
  labels: metadata.labels ?? {},
  conditions: status.conditions ?? [],
});

export const bindings: CaseGroup = {
  "a binding sets the pod's node": async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/binding', { apiVersion: 'v1', kind: 'Binding', ...binding('a') });
    await api.get('pods/a', { view: placed });
  },
  'a binding adds its annotations and labels to the pod': async (api) => {
    await api.givenCreated('pods', pod('a', {}, { annotations: { kept: '1', changed: '2' } }));
    await api.create(
      'pods/a/binding',
      binding('a', 'any-node', { annotations: { changed: '3', added: '4' }, labels: { color: 'red' } }),
    );
    await api.get('pods/a', { view: placed });
  },
  'a pod is bound only once': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.givenCreated('pods/a/binding', binding('a'));
    await api.create('pods/a/binding', binding('a'));
    await api.create('pods/a/binding', binding('a', 'another-node'));
  },
  'a binding needs an existing pod': async (api) => {
    await api.create('pods/none/binding', binding('none'));
  },
  'a binding may name the uid of the pod': async (api) => {
    const { metadata } = await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/binding', binding('a', 'any-node', { uid: '11111111-2222-4333-8444-555555555555' }));
    await api.create('pods/a/binding', binding('a', 'any-node', { uid: metadata.uid }));
  },
  'a binding may name the resource version of the pod': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/binding', binding('a', 'any-node', { resourceVersion: '1' }), {
      view: ({ reason, code, status }) => ({ reason, code, status }),
    });
  },
  'a gated pod cannot be bound': async (api) => {
    await api.givenCreated('pods', pod('a', { schedulingGates: [{ name: 'example.com/a' }] }));
    await api.create('pods/a/binding', binding('a'));
  },
  'a terminating pod cannot be bound': async (api) => {
    await api.givenCreated('pods', pod('a', {}, { finalizers: ['example.com/hold'] }));
    await api.given('DELETE', 'pods/a');
    await api.create('pods/a/binding', binding('a'));
  },
  'a binding must name a node': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/binding', { metadata: { name: 'a' }, target: { kind: 'Node', name: '' } });
    await api.create('pods/a/binding', { metadata: { name: 'a' }, target: { kind: 'Pod', name: 'b' } });
    await api.create('pods/a/binding', { metadata: { name: 'a' } });
    await api.create('pods/a/binding', { metadata: { name: 'a' }, target: { name: 'any-node' } });
  },
  'a binding must name the pod of the path': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/binding', binding('b'));
  },
  'a dry run binds nothing': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/binding?dryRun=All', binding('a'));
    await api.get('pods/a', { view: placed });
  },
  'a binding cannot be read or replaced': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.get('pods/a/binding');
    await api.delete('pods/a/binding');
  },
  'an eviction deletes a pod': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } });
    await api.get('pods/a');
  },
  'an eviction gives a bound pod its grace period': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.givenCreated('pods/a/binding', binding('a'));
    await api.create('pods/a/eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'a' },
      deleteOptions: { gracePeriodSeconds: 9 },
    });
    await api.get('pods/a', {
      view: ({ metadata, status }) => ({
        graceSeconds: metadata.deletionGracePeriodSeconds,
        conditions: status.conditions,
      }),
    });
  },
  'an eviction must name the pod of the path': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'b' } });
    await api.create('pods/none/eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'none' } });
  },
  'an eviction may be a dry run': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.create('pods/a/eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'a' },
      deleteOptions: { dryRun: ['All'] },
    });
    await api.get('pods/a', { view: placed });
  },
};
