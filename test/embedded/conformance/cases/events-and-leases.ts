import type { CaseGroup } from '../conformance-case.ts';
import type { Conversation } from '../conversation.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

function event(api: Conversation, name: string, rest: object = {}): object {
  return {
    metadata: { name },
    involvedObject: { kind: 'Pod', namespace: api.namespace, name: 'a', uid: '11111111-2222-4333-8444-555555555555' },
    reason: 'Scheduled',
    message: 'assigned',
    type: 'Normal',
    source: { component: 'tests' },
    firstTimestamp: '2024-01-01T00:00:00Z',
    lastTimestamp: '2024-01-01T00:00:00Z',
    count: 1,
    ...rest,
  };
}

function modern(api: Conversation): string {
  return `/apis/events.k8s.io/v1/namespaces/${api.namespace}/events`;
}

const names = ({ items, ...rest }: any): unknown => items?.map(({ metadata }: any) => metadata.name) ?? rest;

export const eventsAndLeases: CaseGroup = {
  'an Event can be read through both groups': async (api) => {
    await api.create('events', event(api, 'a'));
    await api.get(`${modern(api)}/a`);
    await api.get('events', { view: names });
  },
  'an Event can be written through the newer group': async (api) => {
    const sent = {
      metadata: { name: 'a' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'example.com/tests',
      reportingInstance: 'tests-1',
      action: 'Binding',
      reason: 'Scheduled',
      regarding: { kind: 'Pod', namespace: api.namespace, name: 'a' },
      note: 'assigned',
      type: 'Normal',
    };
    await api.create(modern(api), sent);
    await api.get('events/a');
  },
  'an Event must be in the namespace of its object': async (api) => {
    await api.create('events', event(api, 'a', { involvedObject: { kind: 'Pod', namespace: 'another', name: 'a' } }));
    await api.create('events', event(api, 'b', { involvedObject: { kind: 'Node', name: 'node' } }));
    await api.create(
      '/api/v1/namespaces/default/events',
      event(api, api.namespace, { involvedObject: { kind: 'Node', name: 'node' } }),
      { view: ({ kind, metadata }) => [kind, metadata.name] },
    );
  },
  'a patch increments the count of an Event': async (api) => {
    await api.givenCreated('events', event(api, 'a'));
    await api.strategicMerge('events/a', { count: 2, lastTimestamp: '2024-01-01T00:01:00Z' });
  },
  'Events are selected by their object': async (api) => {
    await api.givenCreated('events', event(api, 'a'));
    await api.givenCreated(
      'events',
      event(api, 'b', {
        involvedObject: { kind: 'Pod', namespace: api.namespace, name: 'b' },
        type: 'Warning',
        reason: 'Failed',
      }),
    );
    for (const selector of [
      'involvedObject.name=a',
      'involvedObject.kind=Pod,type=Warning',
      'reason!=Failed',
      'involvedObject.uid=11111111-2222-4333-8444-555555555555',
      'source=tests',
      'reportingComponent=',
    ]) {
      await api.get(`events?fieldSelector=${encodeURIComponent(selector)}`, { view: names });
    }
    await api.get(`${modern(api)}?fieldSelector=regarding.name%3Da`, { view: names });
    await api.get(`events?fieldSelector=message%3Da`);
  },
  'Events have a table': async (api) => {
    await api.givenCreated('events', event(api, 'a'));
    await api.get('events', { accept: table });
  },
  'a lease keeps its times with microseconds': async (api) => {
    const spec = {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2024-01-01T00:00:00.123456Z',
      renewTime: '2024-01-01T00:00:00.100000Z',
      leaseTransitions: 1,
    };
    await api.create('leases', { metadata: { name: 'a' }, spec });
    const { body } = await api.get('leases/a', { view: ({ spec }) => JSON.stringify(spec.renewTime).length });
    await api.replace(
      'leases/a',
      { ...body, spec: { ...spec, renewTime: '2024-01-01T00:00:01Z' } },
      { view: ({ spec }) => JSON.stringify(spec.renewTime).length },
    );
  },
  'a lease is renewed only on its latest version': async (api) => {
    const created = await api.givenCreated('leases', { metadata: { name: 'a' }, spec: { holderIdentity: 'me' } });
    await api.replace('leases/a', { ...created, spec: { holderIdentity: 'you' } });
    await api.replace('leases/a', { ...created, spec: { holderIdentity: 'me' } });
  },
  'the times of a lease must be valid': async (api) => {
    await api.create('leases', { metadata: { name: 'a' }, spec: { renewTime: 'now' } });
    await api.create('leases', { metadata: { name: 'a' }, spec: { leaseDurationSeconds: 0 } });
    await api.create('leases', { metadata: { name: 'a' }, spec: { leaseTransitions: -1 } });
  },
  'leases have a table': async (api) => {
    await api.givenCreated('leases', { metadata: { name: 'a' }, spec: { holderIdentity: 'me' } });
    await api.get('leases', { accept: table });
  },
};
