import type { CaseGroup } from '../conformance-case.ts';
import type { Conversation } from '../conversation.ts';
import { configMap, pod, podGroup } from './objects.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

async function versionOf(api: Conversation, plural = 'leases'): Promise<string> {
  const list = await api.given('GET', plural);
  return list.metadata.resourceVersion as string;
}

function lease(name: string, labels: object = {}, holderIdentity = 'me'): object {
  return { metadata: { name, labels }, spec: { holderIdentity } };
}

async function mergeGiven(api: Conversation, path: string, body: object): Promise<void> {
  await api.given('PATCH', path, { contentType: 'application/merge-patch+json', body });
}

export const watches: CaseGroup = {
  'changes since a version are played again in their order': async (api) => {
    const version = await versionOf(api);
    await api.givenCreated('leases', lease('a'));
    await mergeGiven(api, 'leases/a', { spec: { holderIdentity: 'you' } });
    await api.givenCreated('leases', lease('b'));
    await api.given('DELETE', 'leases/a');
    await api.watch(`leases?watch=true&resourceVersion=${version}`, 4);
  },
  'changes come as they happen': async (api) => {
    const version = await versionOf(api);
    await api.watch(`leases?watch=true&resourceVersion=${version}`, 3, {
      act: async () => {
        await api.create('leases', lease('a'));
        await api.merge('leases/a', { spec: { holderIdentity: 'you' } });
        await api.delete('leases/a');
      },
    });
  },
  'a watch without a version begins with what there is': async (api) => {
    await api.givenCreated('leases', lease('a'));
    await api.givenCreated('leases', lease('b'));
    await api.watch('leases?watch=true', 2);
    await api.watch('leases?watch=true&resourceVersion=0', 3, { act: () => api.givenCreated('leases', lease('c')) });
  },
  'objects enter and leave a selection': async (api) => {
    const version = await versionOf(api);
    await api.givenCreated('leases', lease('a', { color: 'red' }));
    await mergeGiven(api, 'leases/a', { metadata: { labels: { color: 'blue' } } });
    await mergeGiven(api, 'leases/a', { metadata: { labels: { size: 'big' } } });
    await mergeGiven(api, 'leases/a', { metadata: { labels: { color: 'red' } } });
    await api.given('DELETE', 'leases/a');
    await api.watch(`leases?watch=true&resourceVersion=${version}&labelSelector=color%3Dred`, 4);
  },
  'pods leave a selection by field when they are bound': async (api) => {
    const version = await versionOf(api, 'pods');
    await api.givenCreated('pods', pod('a'));
    await api.givenCreated('pods/a/binding', { metadata: { name: 'a' }, target: { kind: 'Node', name: 'some-node' } });
    await api.watch(`pods?watch=true&resourceVersion=${version}&fieldSelector=spec.nodeName%3D`, 2, {
      view: (changes) =>
        changes.map(({ type, object }: any) => [type, object.metadata.name, object.spec.nodeName ?? 'none']),
    });
  },
  'one object is watched by its name': async (api) => {
    const version = await versionOf(api);
    await api.givenCreated('leases', lease('a'));
    await api.givenCreated('leases', lease('b'));
    await api.given('DELETE', 'leases/b');
    await api.watch(`leases?watch=true&resourceVersion=${version}&fieldSelector=metadata.name%3Db`, 2);
    await api.watch(`leases/b?watch=true&resourceVersion=${version}`, 2);
  },
  'a single object is read and not watched': async (api) => {
    await api.givenCreated('leases', lease('a'));
    await api.get('leases/a?watch=true');
  },
  'the last state of a pod is what was stored': async (api) => {
    const version = await versionOf(api, 'pods');
    const view = (changes: any): unknown =>
      changes.map(({ type, object }: any) => [
        type,
        object.metadata.name,
        object.metadata.deletionGracePeriodSeconds ?? 'stays',
        object.metadata.generation,
      ]);
    await api.givenCreated('pods', pod('free'));
    await api.given('DELETE', 'pods/free');
    await api.givenCreated('pods', pod('taken', { nodeName: 'some-node' }));
    await api.given('DELETE', 'pods/taken');
    await api.given('DELETE', 'pods/taken', { body: { gracePeriodSeconds: 0 } });
    await api.watch(`pods?watch=true&resourceVersion=${version}`, 7, { view });
  },
  'custom resources are watched in the same way': async (api) => {
    const version = await versionOf(api, 'podgroups');
    await api.givenCreated('podgroups', podGroup('a', { minMember: 1 }));
    await mergeGiven(api, 'podgroups/a/status', { status: { phase: 'Pending' } });
    await api.given('DELETE', 'podgroups/a');
    await api.watch(`podgroups?watch=true&resourceVersion=${version}`, 3);
  },
  'a deletion that waits for finalizers is a change': async (api) => {
    const version = await versionOf(api, 'configmaps');
    await api.givenCreated('configmaps', configMap('a', { metadata: { finalizers: ['example.com/hold'] } }));
    await api.given('DELETE', 'configmaps/a');
    await mergeGiven(api, 'configmaps/a', { metadata: { finalizers: null } });
    await api.watch(`configmaps?watch=true&resourceVersion=${version}&fieldSelector=metadata.name%3Da`, 3);
  },
  'a watch ends when its time is over': async (api) => {
    const version = await versionOf(api);
    await api.watch(`leases?watch=true&resourceVersion=${version}&timeoutSeconds=1`, 1);
  },
  'a bookmark ends what there is at the start': async (api) => {
    await api.givenCreated('leases', lease('a'));
    const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    await api.watch(`leases?${query}`, 2);
    await api.watch(`leases?${query}&resourceVersion=0`, 2);
  },
  'asking for what there is at the start needs a match': async (api) => {
    await api.watch('leases?watch=true&sendInitialEvents=true', 1);
    await api.watch('leases?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=0', 1);
  },
  'a version must be a number': async (api) => {
    await api.watch('leases?watch=true&resourceVersion=abc', 1, {
      view: ([change]) => [change?.type, change?.object.code],
    });
  },
  'a table is watched row by row': async (api) => {
    const version = await versionOf(api);
    await api.givenCreated('leases', lease('a'));
    await mergeGiven(api, 'leases/a', { spec: { holderIdentity: 'you' } });
    await api.watch(`leases?watch=true&resourceVersion=${version}`, 2, { accept: table });
  },
  'a selector that makes no sense is rejected': async (api) => {
    await api.watch('pods?watch=true&fieldSelector=spec.image%3Da', 1);
  },
};
