import type { CaseGroup } from '../conformance-case.ts';
import type { Conversation } from '../conversation.ts';
import { podGroup, widgets } from './objects.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** Installs Widgets for this case only and waits until they are served. Returns the path of their collection. */
async function givenWidgets(api: Conversation, schema: object, version: object = {}): Promise<string> {
  const group = `${api.namespace}.example.com`;
  await api.givenCreated(definitions, widgets(group, schema, version));
  const path = `/apis/${group}/v1/namespaces/${api.namespace}/widgets`;
  await api.until(path);
  return path;
}

function widget(api: Conversation, name: string, rest: object): object {
  return { apiVersion: `${api.namespace}.example.com/v1`, kind: 'Widget', metadata: { name }, ...rest };
}

function specSchema(properties: object, required?: readonly string[]): object {
  return {
    type: 'object',
    properties: {
      spec: { type: 'object', properties, ...(required && { required }) },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
}

export const customResources: CaseGroup = {
  'a CRD gets its defaults': async (api) => {
    const group = `${api.namespace}.example.com`;
    await api.create(definitions, widgets(group, { type: 'object' }), {
      view: ({ apiVersion, kind, metadata, spec }) => ({ apiVersion, kind, generation: metadata.generation, spec }),
    });
    await api.until(`/apis/${group}/v1/widgets`);
    await api.get(`${definitions}/widgets.${group}`, {
      view: ({ status }) => ({
        ...status,
        conditions: status.conditions
          .filter(({ type }: any) => ['Established', 'NamesAccepted'].includes(type))
          .sort((a: any, b: any) => (a.type < b.type ? -1 : 1)),
      }),
    });
  },
  'a CRD is named after its resource': async (api) => {
    const definition: any = widgets(`${api.namespace}.example.com`, { type: 'object' });
    await api.create(definitions, { ...definition, metadata: { name: 'gadgets.example.com' } });
  },
  'a CRD needs a structural schema': async (api) => {
    const group = `${api.namespace}.example.com`;
    await api.create(definitions, widgets(group, { properties: { spec: { properties: { size: {} } } } }));
    const { spec }: any = widgets(group, { type: 'object' });
    await api.create(definitions, {
      metadata: { name: `widgets.${group}` },
      spec: { ...spec, versions: [{ name: 'v1', served: true, storage: true }] },
    });
  },
  'a CRD has exactly one storage version': async (api) => {
    const group = `${api.namespace}.example.com`;
    await api.create(definitions, widgets(group, { type: 'object' }, { storage: false }));
    await api.create(definitions, widgets(group, { type: 'object' }, {}, { scope: 'Everywhere' }));
    await api.create(
      definitions,
      { metadata: { name: `widgets.${group}` }, spec: { group } },
      { view: ({ reason, code }) => ({ reason, code }) },
    );
  },
  'a resource is served while its CRD exists': async (api) => {
    const path = await givenWidgets(api, { type: 'object' });
    await api.create(path, widget(api, 'a', {}));
    await api.given('DELETE', `${definitions}/widgets.${api.namespace}.example.com`);
    await api.until(path, 404);
    await api.get(path);
  },
  'values are validated against the schema': async (api) => {
    const path = await givenWidgets(
      api,
      specSchema(
        {
          size: { type: 'integer', minimum: 1, maximum: 9 },
          color: { type: 'string', enum: ['red', 'blue'] },
          name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
          tags: { type: 'array', maxItems: 2, items: { type: 'string' } },
        },
        ['size'],
      ),
    );
    await api.create(path, widget(api, 'a', { spec: {} }));
    await api.create(path, widget(api, 'a', { spec: { size: 0 } }));
    await api.create(path, widget(api, 'a', { spec: { size: 10 } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1.5 } }));
    await api.create(path, widget(api, 'a', { spec: { size: 'big' } }));
    await api.create(path, widget(api, 'a', { spec: { size: null } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1, color: 'green' } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1, name: 'a' } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1, name: 'abcde' } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1, name: 'A1' } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1, tags: ['a', 'b', 'c'] } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1, tags: ['a', 1] } }));
  },
  'lists may be sets or maps': async (api) => {
    const path = await givenWidgets(
      api,
      specSchema({
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port'],
          items: { type: 'object', required: ['port'], properties: { port: { type: 'integer' } } },
        },
      }),
    );
    await api.create(path, widget(api, 'a', { spec: { tags: ['a', 'a'] } }));
    await api.create(path, widget(api, 'a', { spec: { ports: [{ port: 1 }, { port: 1 }] } }));
  },
  'unknown fields are rejected by strict validation': async (api) => {
    await api.create('podgroups?fieldValidation=Strict', { ...podGroup('a', { minMember: 1, nope: 1 }), nope: 2 });
    await api.create('podgroups?fieldValidation=Strict', podGroup('a', { minMember: 1 }, { nope: 1 }));
  },
  'fields may hold a number or a string, or any value': async (api) => {
    const path = await givenWidgets(
      api,
      specSchema({
        port: { 'x-kubernetes-int-or-string': true },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        counts: { type: 'object', additionalProperties: { type: 'integer' } },
      }),
    );
    await api.create(path, widget(api, 'a', { spec: { port: 80, any: { deep: [1] }, counts: { a: 1 } } }));
    await api.create(path, widget(api, 'b', { spec: { port: 'http' } }));
    await api.create(path, widget(api, 'c', { spec: { port: true } }));
    await api.create(path, widget(api, 'd', { spec: { counts: { a: 'one' } } }));
  },
  'CEL rules between fields are validated': async (api) => {
    const schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { low: { type: 'integer' }, high: { type: 'integer' } },
          'x-kubernetes-validations': [{ rule: 'self.low <= self.high', message: 'low is above high' }],
        },
      },
    };
    await api.create(definitions, widgets(`${api.namespace}.example.com`, schema), {
      view: ({ kind, code, reason }) => ({ kind, code, reason }),
    });
  },
  'the status has a separate path': async (api) => {
    const path = await givenWidgets(api, specSchema({ size: { type: 'integer' } }), { subresources: { status: {} } });
    await api.create(path, widget(api, 'a', { spec: { size: 1 }, status: { phase: 'Sent' } }));
    await api.merge(`${path}/a/status`, {
      metadata: { labels: { color: 'red' } },
      spec: { size: 2 },
      status: { phase: 'Done' },
    });
    await api.merge(`${path}/a`, { spec: { size: 3 }, status: { phase: 'Mine' } });
    await api.merge(`${path}/a`, { metadata: { labels: { color: 'red' } } });
    await api.get(`${path}/a/status`);
  },
  'without a status subresource, a write changes the whole object': async (api) => {
    const path = await givenWidgets(api, specSchema({ size: { type: 'integer' } }));
    await api.create(path, widget(api, 'a', { spec: { size: 1 }, status: { phase: 'Sent' } }));
    await api.merge(`${path}/a`, { status: { phase: 'Done' } });
    await api.get(`${path}/a/status`);
  },
  'printer columns come from the objects': async (api) => {
    const path = await givenWidgets(
      api,
      specSchema({
        size: { type: 'integer' },
        since: { type: 'string', format: 'date-time' },
      }),
      {
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Phase', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Since', type: 'date', jsonPath: '.spec.since' },
        ],
      },
    );
    await api.givenCreated(
      path,
      widget(api, 'a', {
        spec: { size: 1, since: '2020-01-01T00:00:00Z' },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      }),
    );
    await api.givenCreated(path, widget(api, 'b', { spec: {} }));
    await api.get(path, { accept: table });
  },
  'without printer columns, a table has name and age': async (api) => {
    const path = await givenWidgets(api, { type: 'object' });
    await api.givenCreated(path, widget(api, 'a', {}));
    await api.get(path, { accept: table });
  },
  'PodGroups are validated': async (api) => {
    await api.create('podgroups', podGroup('a', { minMember: 0 }));
    await api.create('podgroups', podGroup('a', { minMember: -1, scheduleTimeoutSeconds: 'long' }));
    await api.create('podgroups', podGroup('a', { minMember: 1, minResources: { cpu: 'much' } }));
    await api.create('podgroups', podGroup('a', { minMember: 3, minResources: { cpu: 1, memory: '1Gi' } }));
    await api.get('podgroups', { accept: table });
  },
  'a kind must match the CRD': async (api) => {
    await api.create('podgroups', { ...podGroup('a', { minMember: 1 }), kind: 'Pod' });
    await api.create('podgroups', { ...podGroup('a', { minMember: 1 }), apiVersion: 'scheduling.x-k8s.io/v1' });
    await api.create('podgroups', { metadata: { name: 'a' }, spec: { minMember: 1 } });
  },
};
