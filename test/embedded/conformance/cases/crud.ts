import type { CaseGroup } from '../conformance-case.ts';
import { configMap, pod } from './objects.ts';

export const crud: CaseGroup = {
  'an object is created, read and replaced': async (api) => {
    await api.create('configmaps', configMap('a', { data: { key: 'value' }, metadata: { labels: { color: 'red' } } }));
    await api.get('configmaps/a');
    await api.replace('configmaps/a', configMap('a', { data: { key: 'other' } }));
  },
  'a missing object is not found': async (api) => {
    await api.get('configmaps/none');
    await api.get('podgroups/none');
  },
  'a second object of the same name is rejected': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.create('configmaps', configMap('a'));
  },
  'an object needs a name': async (api) => {
    await api.create('configmaps', { metadata: {} });
    await api.create('configmaps', { data: {} });
  },
  'a name must be a DNS name': async (api) => {
    await api.create('configmaps', configMap('Not A Name'));
    await api.create('configmaps', configMap('-a'));
  },
  'the name of a namespace must be a DNS label': async (api) => {
    await api.create('/api/v1/namespaces', { metadata: { name: 'with.dot' } });
  },
  'a name is made from a prefix': async (api) => {
    await api.create('configmaps', { metadata: { generateName: 'made-' } });
  },
  'fields that only the server sets are ignored in a new object': async (api) => {
    await api.create('configmaps', {
      metadata: {
        name: 'a',
        uid: '11111111-2222-4333-8444-555555555555',
        creationTimestamp: '2020-01-01T00:00:00Z',
        generation: 7,
        deletionGracePeriodSeconds: 5,
        deletionTimestamp: '2020-01-01T00:00:00Z',
        selfLink: '/nowhere',
      },
    });
  },
  'a new object must not have a resource version': async (api) => {
    await api.create('configmaps', configMap('a', { metadata: { resourceVersion: '1' } }));
  },
  'the namespace of the object must be that of the path': async (api) => {
    await api.create('configmaps', configMap('a', { metadata: { namespace: 'another' } }));
  },
  'no object can be created in a missing namespace': async (api) => {
    await api.create(`/api/v1/namespaces/${api.namespace}-none/configmaps`, configMap('a'));
    await api.get(`/api/v1/namespaces/${api.namespace}-none/configmaps`);
  },
  'a replacement needs an existing object': async (api) => {
    await api.replace('configmaps/none', configMap('none'));
    await api.replace('pods/none', pod('none'));
  },
  'the name of the object must be that of the path': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.replace('configmaps/a', configMap('b'));
    await api.replace('configmaps/a', { data: {} });
  },
  'an object keeps its uid': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.replace('configmaps/a', configMap('a', { metadata: { uid: '11111111-2222-4333-8444-555555555555' } }));
  },
  'an object keeps its creation time': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.replace('configmaps/a', configMap('a', { metadata: { creationTimestamp: '2020-01-01T00:00:00Z' } }));
  },
  'unknown fields are rejected by strict validation': async (api) => {
    const sent = { ...pod('a', { nope: 1, containers: [{ name: 'main', image: 'main', nope: 2 }] }), nope: 3 };
    await api.create('pods?fieldValidation=Strict', sent);
  },
  'unknown fields cause a warning and are dropped': async (api) => {
    await api.create('configmaps?fieldValidation=Warn', { ...configMap('a'), nope: 1, other: 2 });
    await api.create('configmaps', { ...configMap('b'), nope: 1 });
  },
  'unknown fields are ignored with fieldValidation=Ignore': async (api) => {
    await api.create('configmaps?fieldValidation=Ignore', { ...configMap('a'), nope: 1 });
  },
  'field validation has three modes': async (api) => {
    await api.create('configmaps?fieldValidation=Nope', configMap('a'));
  },
  'a body that is not JSON is rejected': async (api) => {
    await api.create('configmaps', '{"metadata":', { view: ({ reason, code }) => ({ reason, code }) });
  },
  'a body must be of the kind of the path': async (api) => {
    await api.create('configmaps', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } });
    await api.create('configmaps', { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } });
  },
  'a value must be of the type of its field': async (api) => {
    await api.create('configmaps', configMap('a', { data: { key: 1 } }));
    await api.create('pods', pod('a', { containers: 'none' }));
    await api.create('pods', pod('a', { activeDeadlineSeconds: 'soon' }));
  },
  'a body in an unsupported format is rejected': async (api) => {
    await api.create('configmaps', 'a=b', { contentType: 'application/x-www-form-urlencoded' });
  },
  'a dry run responds as usual and stores nothing': async (api) => {
    await api.create('configmaps?dryRun=All', configMap('a'), {
      view: ({ kind, metadata }) => ({ kind, name: metadata.name, hasVersion: 'resourceVersion' in metadata }),
    });
    await api.get('configmaps/a');
    await api.givenCreated('configmaps', configMap('b', { data: { key: 'value' } }));
    await api.merge('configmaps/b?dryRun=All', { data: { key: 'other' } });
    await api.delete('configmaps/b?dryRun=All');
    await api.get('configmaps/b');
  },
  'a dry run has only the mode All': async (api) => {
    await api.create('configmaps?dryRun=Some', configMap('a'));
  },
  'unsupported methods of a path are rejected': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.create('configmaps/a', configMap('a'));
    await api.replace('configmaps', configMap('a'));
    await api.merge('configmaps', {});
  },
  'labels must be well formed': async (api) => {
    await api.create('configmaps', configMap('a', { metadata: { labels: { 'not a key': 'value' } } }));
    await api.create('configmaps', configMap('a', { metadata: { labels: { key: 'not a value' } } }));
  },
  'annotations and finalizers must be well formed': async (api) => {
    await api.create('configmaps', configMap('a', { metadata: { annotations: { 'not a key': 'value' } } }));
    await api.create('configmaps', configMap('a', { metadata: { finalizers: ['not a name'] } }));
    await api.create('configmaps', configMap('a', { metadata: { finalizers: ['without-slash'] } }));
  },
  'an owner reference must be complete': async (api) => {
    await api.create('configmaps', configMap('a', { metadata: { ownerReferences: [{ kind: 'Pod', name: 'b' }] } }));
  },
  'an immutable object keeps its data': async (api) => {
    await api.givenCreated('configmaps', { ...configMap('a', { data: { key: 'value' } }), immutable: true });
    await api.merge('configmaps/a', { data: { key: 'other' } });
  },
};
