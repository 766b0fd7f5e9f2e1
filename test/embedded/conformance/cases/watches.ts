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
  'a watch replays the changes since a resource version in order': async (api) => {
    const version = await versionOf(api);
    await api.givenCreated('leases', lease('a'));
    await mergeGiven(api, 'leases/a', { spec: { holderIdentity: 'you' } });
    await api.givenCreated('leases', lease('b'));
    await api.given('DELETE', 'leases/a');
    await api.watch(`leases?watch=true&resourceVersion=${version}`, 4);
  },
  'a watch delivers changes as they happen': async (api) => {
    const version = await versionOf(api);
    await api.watch(`leases?watch=true&resourceVersion=${version}`, 3, {
      act: async () => {
        await api.create('leases', lease('a'));
        await api.merge('leases/a', { spec: { holderIdentity: 'you' } });
        await api.delete('leases/a');
      },
    });
  },
  'a watch without a resource version begins with the existing objects': async (api) => {
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
  'a watch can select one object by name': async (api) => {
    const version = await versionOf(api);
    await api.givenCreated('leases', lease('a'));
    await api.givenCreated('leases', lease('b'));
    await api.given('DELETE', 'leases/b');
    await api.watch(`leases?watch=true&resourceVersion=${version}&fieldSelector=metadata.name%3Db`, 2);
    await api.watch(`leases/b?watch=true&resourceVersion=${version}`, 2);
  },
  'a watch parameter on a single object is ignored': async (api) => {
    await api.givenCreated('leases', lease('a'));
    await api.get('leases/a?watch=true');
  },
  'a deletion event has the last stored state': async (api) => {
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
  'custom resources can be watched in the same way': async (api) => {
    const version = await versionOf(api, 'podgroups');
    await api.givenCreated('podgroups', podGroup('a', { minMember: 1 }));
    await mergeGiven(api, 'podgroups/a/status', { status: { phase: 'Pending' } });
    await api.given('DELETE', 'podgroups/a');
    await api.watch(`podgroups?watch=true&resourceVersion=${version}`, 3);
  },
  'a deletion that waits for finalizers is a modification': async (api) => {
    const version = await versionOf(api, 'configmaps');
    await api.givenCreated('configmaps', configMap('a', { metadata: { finalizers: ['example.com/hold'] } }));
    await api.given('DELETE', 'configmaps/a');
    await mergeGiven(api, 'configmaps/a', { metadata: { finalizers: null } });
    await api.watch(`configmaps?watch=true&resourceVersion=${version}&fieldSelector=metadata.name%3Da`, 3);
  },
  'a watch ends at its timeout': async (api) => {
    const version = await versionOf(api);
    await api.watch(`leases?watch=true&resourceVersion=${version}&timeoutSeconds=1`, 1);
  },
  'a bookmark follows the initial events': async (api) => {
    await api.givenCreated('leases', lease('a'));
    const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    await api.watch(`leases?${query}`, 2);
    await api.watch(`leases?${query}&resourceVersion=0`, 2);
  },
  'sendInitialEvents needs a resourceVersionMatch': async (api) => {
    await api.watch('leases?watch=true&sendInitialEvents=true', 1);
    await api.watch('leases?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=0', 1);
  },
  'a resource version must be a number': async (api) => {
    await api.watch('leases?watch=true&resourceVersion=abc', 1, {
      view: ([change]) => [change?.type, change?.object.code],
    });
  },
  'a watch can deliver table rows': async (api) => {
    const version = await versionOf(api);
    await api.givenCreated('leases', lease('a'));
    await mergeGiven(api, 'leases/a', { spec: { holderIdentity: 'you' } });
    await api.watch(`leases?watch=true&resourceVersion=${version}`, 2, { accept: table });
  },
  'an invalid selector is rejected': async (api) => {
    await api.watch('pods?watch=true&fieldSelector=spec.image%3Da', 1);
  },
};
