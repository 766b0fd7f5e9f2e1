import type { CaseGroup } from '../conformance-case.ts';
import type { Conversation } from '../conversation.ts';
import { binding, configMap, pod, podGroup } from './objects.ts';

const life = ({ kind, status, metadata, code, reason }: any): unknown =>
  kind === 'Status'
    ? { kind, status, code, reason }
    : {
        kind,
        isDeleted: metadata.deletionTimestamp !== undefined,
        graceSeconds: metadata.deletionGracePeriodSeconds ?? 'none',
        finalizers: metadata.finalizers ?? [],
      };

async function givenBound(api: Conversation, spec: object = {}): Promise<void> {
  await api.givenCreated('pods', pod('a', spec));
  await api.givenCreated('pods/a/binding', binding('a'));
  // A real server deletes the pod in its watch cache, which may not show the binding yet: a read waits for that.
  await api.given('GET', 'pods/a');
}

export const deletion: CaseGroup = {
  'a deletion responds with the name and uid of the object': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.delete('configmaps/a');
    await api.get('configmaps/a');
    await api.delete('configmaps/a');
    await api.givenCreated('podgroups', podGroup('b', { minMember: 1 }));
    await api.delete('podgroups/b');
  },
  'finalizers keep an object': async (api) => {
    await api.givenCreated('configmaps', configMap('a', { metadata: { finalizers: ['example.com/hold'] } }));
    await api.delete('configmaps/a');
    await api.get('configmaps/a');
    await api.delete('configmaps/a');
    await api.create('configmaps', configMap('a'));
    await api.merge('configmaps/a', { metadata: { finalizers: null } });
    await api.get('configmaps/a');
  },
  'a terminating object can be changed but gets no new finalizers': async (api) => {
    await api.givenCreated('configmaps', configMap('a', { metadata: { finalizers: ['example.com/hold'] } }));
    await api.given('DELETE', 'configmaps/a');
    await api.merge('configmaps/a', { data: { key: 'value' } }, { view: life });
    await api.merge('configmaps/a', { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } });
    await api.merge('configmaps/a', { metadata: { deletionTimestamp: null } }, { view: life });
  },
  'finalizers keep custom resources in the same way': async (api) => {
    await api.givenCreated('podgroups', podGroup('a', { minMember: 1 }, { finalizers: ['example.com/hold'] }));
    await api.delete('podgroups/a');
    await api.jsonPatch('podgroups/a', [{ op: 'remove', path: '/metadata/finalizers' }]);
    await api.get('podgroups/a');
  },
  'an unbound pod is deleted at once': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.delete('pods/a', undefined, { view: life });
    await api.get('pods/a');
  },
  'a bound pod gets a grace period': async (api) => {
    await givenBound(api);
    await api.delete('pods/a', undefined, { view: life });
    await api.get('pods/a', { view: life });
    await api.delete('pods/a', { gracePeriodSeconds: 5 }, { view: life });
    await api.delete('pods/a', { gracePeriodSeconds: 50 }, { view: life });
    await api.delete('pods/a', { gracePeriodSeconds: 0 }, { view: life });
    await api.get('pods/a');
  },
  'a pod gets the grace period of its spec': async (api) => {
    await givenBound(api, { terminationGracePeriodSeconds: 7 });
    await api.delete('pods/a', undefined, { view: life });
  },
  'the grace period may be in the query': async (api) => {
    await givenBound(api);
    await api.delete('pods/a?gracePeriodSeconds=3', undefined, { view: life });
    await api.delete('pods/a?gracePeriodSeconds=0', undefined, { view: life });
    await api.get('pods/a');
  },
  'a negative grace period is one second': async (api) => {
    await givenBound(api);
    await api.delete('pods/a', { gracePeriodSeconds: -1 }, { view: life });
  },
  'a pod that has ended is deleted at once': async (api) => {
    await givenBound(api);
    await api.given('PATCH', 'pods/a/status', {
      contentType: 'application/merge-patch+json',
      body: { status: { phase: 'Succeeded' } },
    });
    await api.delete('pods/a', undefined, { view: life });
    await api.get('pods/a');
  },
  'a pod with finalizers outlives its grace period': async (api) => {
    await api.givenCreated('pods', pod('a', {}, { finalizers: ['example.com/hold'] }));
    await api.delete('pods/a', undefined, { view: life });
    await api.merge('pods/a', { metadata: { finalizers: null } }, { view: life });
    await api.get('pods/a');
  },
  'a dry run deletes nothing': async (api) => {
    await givenBound(api);
    await api.delete('pods/a', { dryRun: ['All'], gracePeriodSeconds: 0 }, { view: life });
    await api.get('pods/a', { view: life });
  },
  'propagationPolicy has a closed list of values': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.delete('configmaps/a', { propagationPolicy: 'Sideways' });
    await api.delete('configmaps/a', { propagationPolicy: 'Orphan', orphanDependents: true });
    await api.delete(
      'configmaps/a',
      { gracePeriodSeconds: 'soon' },
      { view: ({ reason, code }) => ({ reason, code }) },
    );
  },
  'the policies Orphan and Foreground keep the object': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.delete('configmaps/a', { propagationPolicy: 'Foreground' }, { view: life });
    await api.givenCreated('configmaps', configMap('b'));
    await api.delete('configmaps/b', { propagationPolicy: 'Orphan' }, { view: life });
  },
  'a terminating namespace accepts no new objects': async (api) => {
    const path = `/api/v1/namespaces/${api.namespace}-gone`;
    await api.givenCreated('/api/v1/namespaces', { metadata: { name: `${api.namespace}-gone` } });
    // Deleting its contents takes time, and the namespace exists until then.
    await api.givenCreated(`${path}/configmaps`, configMap('held', { metadata: { finalizers: ['example.com/hold'] } }));
    await api.delete(path, undefined, {
      view: ({ kind, metadata, spec, status }) => ({
        kind,
        isDeleted: metadata.deletionTimestamp !== undefined,
        spec,
        phase: status.phase,
      }),
    });
    await api.create(`${path}/configmaps`, configMap('a'));
  },
  'the system namespaces cannot be deleted': async (api) => {
    await api.delete('/api/v1/namespaces/default');
    await api.delete('/api/v1/namespaces/kube-system');
  },
  'a namespace is created with its label and its finalizer': async (api) => {
    await api.create('/api/v1/namespaces', { metadata: { name: `${api.namespace}-made` } });
  },
};
