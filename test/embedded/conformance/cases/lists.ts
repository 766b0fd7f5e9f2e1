import type { CaseGroup } from '../conformance-case.ts';
import type { Conversation } from '../conversation.ts';
import { configMap, pod, podGroup } from './objects.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const names = (list: any): unknown => list.items?.map(({ metadata }: any) => metadata.name) ?? list;

async function givenThree(api: Conversation): Promise<void> {
  await api.givenCreated('configmaps', configMap('b', { metadata: { labels: { color: 'blue', size: 'big' } } }));
  await api.givenCreated('configmaps', configMap('a', { metadata: { labels: { color: 'red' } } }));
  await api.givenCreated('configmaps', configMap('c'));
}

/** Servers put an object of their own into each namespace, at some moment. */
function paging(list: any): unknown {
  return list.items === undefined ? list : { kind: list.kind, metadata: list.metadata, names: names(list) };
}

export const lists: CaseGroup = {
  'a list has its kind and whole objects': async (api) => {
    await api.givenCreated('leases', { metadata: { name: 'a' }, spec: { holderIdentity: 'me' } });
    await api.get('leases');
    await api.givenCreated('podgroups', podGroup('a', { minMember: 1 }));
    await api.get('podgroups');
  },
  'an empty list has no items': async (api) => {
    await api.get('pods');
    await api.get('podgroups');
  },
  'a list is sorted by name': async (api) => {
    for (const name of ['b', 'c', 'a']) await api.givenCreated('leases', { metadata: { name } });
    await api.get('leases', { view: names });
  },
  'the last page has no token': async (api) => {
    for (const name of ['a', 'b']) await api.givenCreated('leases', { metadata: { name } });
    await api.get('leases?limit=2', { view: paging });
    await api.get('leases?limit=0', { view: paging });
  },
  'an invalid continue token is rejected': async (api) => {
    await api.get('leases?limit=2&continue=nonsense', { view: ({ reason, code }) => ({ reason, code }) });
  },
  'label selectors select objects': async (api) => {
    await givenThree(api);
    const selectors = [
      'color=red',
      'color==red',
      'color!=red,color',
      'color in (red,blue)',
      'color notin (red),color',
      'size',
      '!color,!nothing',
      'color=red,size',
    ];
    for (const selector of selectors) {
      await api.get(`configmaps?labelSelector=${encodeURIComponent(selector)}`, {
        // Where a controller runs each namespace has one of these.
        view: (list) =>
          list.items.map(({ metadata }: any) => metadata.name).filter((name: string) => name !== 'kube-root-ca.crt'),
      });
    }
  },
  'an invalid label selector is rejected': async (api) => {
    for (const selector of ['color in red', '=red', 'a b', 'color=not a value']) {
      await api.get(`configmaps?labelSelector=${encodeURIComponent(selector)}`, {
        view: ({ reason, code }) => ({ reason, code }),
      });
    }
  },
  'field selectors select objects by name': async (api) => {
    await givenThree(api);
    await api.get('configmaps?fieldSelector=metadata.name%3Da', { view: names });
    await api.get(
      `/api/v1/configmaps?fieldSelector=metadata.namespace%3D${api.namespace},metadata.name!%3Db,metadata.name!%3Dkube-root-ca.crt`,
      { view: names },
    );
  },
  'field selectors select pods': async (api) => {
    await api.givenCreated('pods', pod('free'));
    await api.givenCreated(
      'pods',
      pod('taken', { nodeName: 'some-node', schedulerName: 'other', restartPolicy: 'Never' }),
    );
    for (const selector of [
      'spec.nodeName=',
      'spec.nodeName=some-node',
      'spec.nodeName!=',
      'status.phase=Pending',
      'status.phase!=Pending',
      'spec.schedulerName=other',
      'spec.restartPolicy=Never',
      'status.podIP=',
      'status.nominatedNodeName=',
      'spec.serviceAccountName=missing',
      'spec.nodeName=some-node,status.phase!=Failed',
    ]) {
      await api.get(`pods?fieldSelector=${encodeURIComponent(selector)}`, { view: names });
    }
  },
  'unsupported field selectors are rejected': async (api) => {
    await api.get('pods?fieldSelector=spec.image%3Da');
    await api.get('configmaps?fieldSelector=data.key%3Da');
    await api.get('podgroups?fieldSelector=spec.minMember%3D1');
    await api.get('pods?fieldSelector=nonsense', { view: ({ reason, code }) => ({ reason, code }) });
  },
  'version 0 returns a list of any age': async (api) => {
    await api.givenCreated('leases', { metadata: { name: 'a' } });
    await api.get('leases?resourceVersion=0', { view: ({ kind }) => kind });
  },
  'a list can be at least as new as a version': async (api) => {
    const { metadata } = await api.givenCreated('leases', { metadata: { name: 'a' } });
    await api.get(`leases?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`, {
      view: paging,
    });
  },
  'a resource version must be a number': async (api) => {
    await api.get('leases?resourceVersion=abc', { view: ({ reason, code }) => ({ reason, code }) });
  },
  'a resource version in the future is too large': async (api) => {
    await api.get('leases?resourceVersion=99999999999', {
      view: ({ reason, code, details }) => ({ reason, code, details }),
    });
  },
  'a table has a row for each object': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.givenCreated('pods', pod('b', { nodeName: 'some-node' }));
    await api.get('pods', { accept: table });
    await api.get('pods/a', {
      accept: table,
      view: ({ kind, rows }) => ({ kind, cells: rows.map(({ cells }: any) => cells) }),
    });
  },
  'other kinds have tables as well': async (api) => {
    await api.givenCreated('configmaps', configMap('a', { data: { one: '1', two: '2' } }));
    await api.get('configmaps?fieldSelector=metadata.name%3Da', { accept: table });
    await api.get('/api/v1/namespaces/default', { accept: table });
    await api.givenCreated('serviceaccounts', { metadata: { name: 'robot' } });
    await api.get('serviceaccounts?fieldSelector=metadata.name%3Drobot', { accept: table });
    await api.get('/apis/scheduling.k8s.io/v1/priorityclasses', {
      accept: table,
      view: ({ columnDefinitions, rows }) => ({
        columnDefinitions,
        cells: rows.map(({ cells }: any) => cells).filter(([name]: string[]) => name!.startsWith('system-')),
      }),
    });
  },
  'a table may hold whole objects or none': async (api) => {
    await api.givenCreated('leases', { metadata: { name: 'a' } });
    for (const include of ['Object', 'Metadata', 'None'])
      await api.get(`leases?includeObject=${include}`, { accept: table, view: ({ rows }) => rows });
    await api.get('leases?includeObject=Nope', { accept: table, view: ({ reason, code }) => ({ reason, code }) });
  },
};
