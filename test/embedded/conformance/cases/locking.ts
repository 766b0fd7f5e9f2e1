import type { CaseGroup } from '../conformance-case.ts';
import { configMap } from './objects.ts';

export const locking: CaseGroup = {
  'a write with an old resource version is a conflict': async (api) => {
    const { metadata } = await api.givenCreated('configmaps', configMap('a'));
    await api.given('PATCH', 'configmaps/a', {
      contentType: 'application/merge-patch+json',
      body: { data: { key: 'value' } },
    });
    const { resourceVersion } = metadata;
    await api.replace('configmaps/a', configMap('a', { metadata: { resourceVersion } }));
    await api.merge('configmaps/a', { metadata: { resourceVersion }, data: { key: 'mine' } });
  },
  'a write with the latest resource version succeeds': async (api) => {
    const { metadata } = await api.givenCreated('configmaps', configMap('a'));
    const { resourceVersion } = metadata;
    await api.replace('configmaps/a', configMap('a', { metadata: { resourceVersion }, data: { key: 'mine' } }));
  },
  'a write without a resource version succeeds': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.replace('configmaps/a', configMap('a', { data: { key: 'mine' } }));
  },
  'a replacement of a custom resource needs a resource version': async (api) => {
    await api.givenCreated('podgroups', {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name: 'a' },
      spec: { minMember: 1 },
    });
    await api.replace('podgroups/a', {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name: 'a' },
      spec: { minMember: 2 },
    });
  },
  'a replacement of a lease needs a resource version': async (api) => {
    const { metadata } = await api.givenCreated('leases', { metadata: { name: 'a' }, spec: { holderIdentity: 'me' } });
    await api.replace('leases/a', { metadata: { name: 'a' }, spec: { holderIdentity: 'you' } });
    const { resourceVersion } = metadata;
    await api.replace('leases/a', { metadata: { name: 'a', resourceVersion }, spec: { holderIdentity: 'you' } });
  },
  'a write that changes nothing keeps the resource version': async (api) => {
    await api.create('configmaps', configMap('a', { data: { key: 'value' } }));
    await api.replace('configmaps/a', configMap('a', { data: { key: 'value' } }));
    await api.merge('configmaps/a', { data: { key: 'value' } });
    await api.strategicMerge('configmaps/a', {});
    await api.jsonPatch('configmaps/a', []);
  },
  'a write that changes something gets a new resource version': async (api) => {
    await api.create('configmaps', configMap('a', { data: { key: 'value' } }));
    await api.merge('configmaps/a', { data: { key: 'other' } });
    await api.merge('configmaps/a', { data: { key: 'value' } });
  },
  'a resource version must be a number': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.replace('configmaps/a', configMap('a', { metadata: { resourceVersion: 'abc' } }));
  },
  'a deletion can require a uid': async (api) => {
    const { metadata } = await api.givenCreated('configmaps', configMap('a'));
    await api.delete('configmaps/a', { preconditions: { uid: '11111111-2222-4333-8444-555555555555' } });
    await api.delete('configmaps/a', { preconditions: { uid: metadata.uid } });
  },
  'a deletion can require a resource version': async (api) => {
    const { metadata } = await api.givenCreated('configmaps', configMap('a'));
    await api.given('PATCH', 'configmaps/a', {
      contentType: 'application/merge-patch+json',
      body: { data: { key: 'value' } },
    });
    await api.delete(
      'configmaps/a',
      { preconditions: { resourceVersion: metadata.resourceVersion } },
      { view: ({ reason, code, details }) => ({ reason, code, details }) },
    );
  },
  'a recreated object has another uid': async (api) => {
    await api.create('configmaps', configMap('a'));
    await api.delete('configmaps/a');
    const { body } = await api.create('configmaps', configMap('a'));
    await api.replace('configmaps/a', configMap('a', { metadata: { uid: body.metadata.uid } }));
  },
};
