import type { CaseGroup } from '../conformance-case.ts';
import type { Answer, Conversation } from '../conversation.ts';

const version = '/apis/scheduling.k8s.io/v1beta1';
const priorityClasses = '/apis/scheduling.k8s.io/v1/priorityclasses';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const gang = (minCount: unknown, spec: object = {}): object => ({ schedulingPolicy: { gang: { minCount } }, ...spec });
const basic = (spec: object = {}): object => ({ schedulingPolicy: { basic: {} }, ...spec });

function path(api: Conversation, ...rest: readonly string[]): string {
  return [`${version}/namespaces/${api.namespace}/podgroups`, ...rest].join('/');
}

interface GivenPriorityClass {
  readonly metadata: { readonly name: string };
  readonly value: number;
  readonly preemptionPolicy?: string;
}

/** Creates the class, and waits until admission accepts groups of it. */
async function givenPriorityClass(api: Conversation, priorityClass: GivenPriorityClass): Promise<void> {
  await api.givenCreated(priorityClasses, priorityClass);
  const { metadata, preemptionPolicy } = priorityClass;
  const spec = gang(1, { priorityClassName: metadata.name, preemptionPolicy });
  await api.untilCreatable(path(api), { metadata: { name: 'first' }, spec });
}

/** Without the finalizer, which the embedded plane does not set. */
function shown(answer: any): unknown {
  if (answer.metadata !== undefined) delete answer.metadata.finalizers;
  return answer;
}

function create(api: Conversation, name: string, spec: object): Promise<Answer> {
  return api.create(path(api), { metadata: { name }, spec }, { view: shown });
}

function merge(api: Conversation, name: string, spec: object): Promise<Answer> {
  return api.merge(path(api, name), { spec }, { view: shown });
}

/** Kubernetes' own PodGroups, and the pods that name them. */
export const nativeGangs: CaseGroup = {
  'the group and its resources are listed': async (api) => {
    await api.get('/apis/scheduling.k8s.io');
    await api.get(version, {
      view: (list) => ({
        ...list,
        resources: list.resources
          .filter(({ name }: any) => name.startsWith('podgroups'))
          .map((each: any) => ({ ...each, verbs: each.verbs.filter((verb: string) => verb !== 'deletecollection') })),
      }),
    });
  },
  'OpenAPI describes the fields of a pod group': async (api) => {
    await api.get(`/openapi/v3${version}`, { view: (document) => fieldsOf(document) });
  },
  'a pod group gets its defaults': async (api) => {
    await create(api, 'gang', gang(4));
    await create(api, 'basic', basic());
    await create(api, 'all', gang(1, { disruptionMode: { all: {} } }));
    await create(api, 'from-template', gang(1, { workloadRef: { workloadName: 'training', templateName: 'workers' } }));
    await api.get(path(api), { view: ({ items }) => items.map(({ spec }: any) => spec) });
  },
  'a scheduling policy is either basic or a gang': async (api) => {
    await create(api, 'a', {});
    await create(api, 'a', { schedulingPolicy: {} });
    await create(api, 'a', { schedulingPolicy: { basic: {}, gang: { minCount: 1 } } });
    await api.create(path(api), { metadata: { name: 'a' } });
    await create(api, 'a', { schedulingPolicy: { basic: 'yes' } });
  },
  'minCount is a positive number': async (api) => {
    for (const minCount of [0, -1, undefined]) await create(api, 'a', gang(minCount));
    await create(api, 'a', gang(1.5));
    await create(api, 'a', gang('2'));
  },
  'only minCount may change': async (api) => {
    await create(api, 'a', gang(4));
    await merge(api, 'a', gang(6));
    await merge(api, 'a', gang(0));
    await merge(api, 'a', { disruptionMode: { single: null, all: {} } });
    await merge(api, 'a', { priority: 7 });
    await merge(api, 'a', { priorityClassName: 'system-node-critical' });
    await merge(api, 'a', { workloadRef: { workloadName: 'training', templateName: 'workers' } });
    await merge(api, 'a', { schedulingPolicy: { basic: {}, gang: null } });
    await create(api, 'b', basic());
    await merge(api, 'b', { schedulingPolicy: { basic: null, gang: { minCount: 1 } } });
    await merge(api, 'b', { schedulingPolicy: { gang: { minCount: 1 } } });
  },
  'the fields of a pod group are validated': async (api) => {
    await create(api, 'Not.A.Name', gang(1));
    await create(api, 'a', gang(1, { disruptionMode: {} }));
    await create(api, 'a', gang(1, { disruptionMode: { single: {}, all: {} } }));
    await create(api, 'a', gang(1, { workloadRef: {} }));
    await create(api, 'a', gang(1, { workloadRef: { workloadName: 'Not a name', templateName: 'a.b' } }));
    await create(api, 'a', gang(1, { unknown: 1 }));
  },
  'fields of closed feature gates are dropped': async (api) => {
    await create(
      api,
      'a',
      gang(1, {
        schedulingConstraints: { topology: [{ key: 'rack' }] },
        resourceClaims: [{ name: 'gpus', resourceClaimName: 'gpus' }],
        preemptionPolicy: 'Never',
        parentCompositePodGroupName: 'parent',
      }),
    );
    await merge(api, 'a', { preemptionPolicy: 'Never', schedulingConstraints: { topology: [{ key: 'rack' }] } });
  },
  'the priority of a pod group is that of its class': async (api) => {
    const { namespace: priorityClassName } = api;
    await givenPriorityClass(api, { metadata: { name: priorityClassName }, value: 1000 });
    await create(api, 'a', gang(1, { priorityClassName }));
    await create(api, 'b', gang(1, { priorityClassName, priority: 1000 }));
    await create(api, 'c', gang(1, { priorityClassName, priority: 1 }));
    await create(api, 'd', gang(1, { priorityClassName: 'missing' }));
    await create(api, 'e', gang(1, { priority: 1 }));
    await create(api, 'f', gang(1, { priorityClassName: 'system-cluster-critical' }));
  },
  'only the status subresource writes the status': async (api) => {
    const condition = {
      type: 'PodGroupInitiallyScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'no node has enough CPU',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { conditions: [condition] };
    await api.create(path(api), { metadata: { name: 'a' }, spec: gang(2), status }, { view: shown });
    await api.merge(path(api, 'a'), { status }, { view: shown });
    await api.strategicMerge(path(api, 'a', 'status'), { spec: gang(3), status }, { view: shown });
    await api.get(path(api), { accept: table, view: ({ rows }) => rows[0].cells.slice(0, 4) });
    const scheduled = { ...condition, status: 'True', reason: 'Scheduled', message: '' };
    await api.strategicMerge(path(api, 'a', 'status'), { status: { conditions: [scheduled] } }, { view: shown });
    await api.get(path(api, 'a', 'status'), { view: ({ status: written }) => written });
    await api.get(path(api), { accept: table });
    const target = { ...condition, type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
    await api.strategicMerge(path(api, 'a', 'status'), { status: { conditions: [target] } }, { view: shown });
    await api.get(path(api), { accept: table, view: ({ rows }) => rows[0].cells.slice(0, 4) });
  },
  'conditions are validated': async (api) => {
    await create(api, 'a', gang(2));
    const complete = { type: 'A', status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' };
    for (const change of [
      { type: '' },
      { type: 'not a type' },
      { status: 'Maybe' },
      { reason: '' },
      { reason: 'not a reason' },
      { lastTransitionTime: null },
    ]) {
      await api.merge(path(api, 'a', 'status'), { status: { conditions: [{ ...complete, ...change }] } });
    }
  },
  'an update needs the resource version': async (api) => {
    const { body } = await create(api, 'a', gang(2));
    const { resourceVersion, ...metadata } = body.metadata;
    const next = { ...body, spec: { ...body.spec, ...gang(3) } };
    await api.replace(path(api, 'a'), { ...next, metadata }, { view: ({ reason }) => reason });
    await api.replace(path(api, 'a'), { ...next, metadata: { ...metadata, resourceVersion } }, { view: shown });
  },
  'a pod group is deleted': async (api) => {
    await create(api, 'a', gang(2));
    await api.given('PATCH', path(api, 'a'), {
      body: { metadata: { finalizers: null } },
      contentType: 'application/merge-patch+json',
    });
    await api.delete(path(api, 'a'));
    await api.get(path(api, 'a'));
  },
  'a pod names its pod group': async (api) => {
    const pod = (name: string, schedulingGroup: unknown): object => ({
      metadata: { name },
      spec: { schedulingGroup, containers: [{ name: 'main', image: 'image:1' }] },
    });
    const view = ({ spec }: any): unknown => spec.schedulingGroup;
    await api.create('pods', pod('a', { podGroupName: 'gang' }), { view });
    await api.merge(
      'pods/a',
      { spec: { schedulingGroup: { podGroupName: 'other' } } },
      { view: ({ reason }) => reason },
    );
    await api.merge('pods/a', { spec: { schedulingGroup: null } }, { view: ({ reason }) => reason });
    await api.create('pods', pod('b', {}));
    await api.create('pods', pod('b', { podGroupName: 'Not a name' }));
    await api.create(
      'jobs',
      {
        metadata: { name: 'a' },
        spec: {
          template: {
            spec: {
              restartPolicy: 'Never',
              schedulingGroup: { podGroupName: 'gang' },
              containers: [{ name: 'main', image: 'image:1' }],
            },
          },
        },
      },
      { view: ({ spec }) => spec.template.spec.schedulingGroup },
    );
  },
};

const topology = (...keys: readonly string[]): object => ({
  schedulingConstraints: { topology: keys.map((key) => ({ key })) },
});
const claim = (name: string, reference: object = { resourceClaimName: 'x' }): object => ({ name, ...reference });
const fromTemplate = { workloadRef: { workloadName: 'training', templateName: 'workers' } };

/** Cases for servers with the feature gates of all fields. */
export const nativeGangAlphaFields: CaseGroup = {
  'a topology constraint has one key, and is immutable': async (api) => {
    await create(api, 'rack', gang(1, topology('example.test/rack')));
    await create(api, 'none', gang(1, { schedulingConstraints: {} }));
    await create(api, 'a', gang(1, topology('a', 'b')));
    await create(api, 'a', gang(1, topology('')));
    await create(api, 'a', gang(1, topology('not a key')));
    await merge(api, 'rack', topology('zone'));
    await merge(api, 'rack', { schedulingConstraints: null });
  },
  'resource claims have names of their own': async (api) => {
    await create(api, 'claims', gang(1, { resourceClaims: [claim('a')] }));
    await create(api, 'a', gang(1, { resourceClaims: [claim('a', {})] }));
    const both = { resourceClaimName: 'x', resourceClaimTemplateName: 'y' };
    await create(api, 'a', gang(1, { resourceClaims: [claim('a', both)] }));
    await create(api, 'a', gang(1, { resourceClaims: [claim('a'), claim('a')] }));
    await create(api, 'a', gang(1, { resourceClaims: [claim('A.b', { resourceClaimName: 'x y' })] }));
    await create(api, 'a', gang(1, { resourceClaims: ['a', 'b', 'c', 'd', 'e'].map((name) => claim(name)) }));
    await merge(api, 'claims', { resourceClaims: [claim('b')] });
    for (const name of ['a', 'other']) {
      const status = { resourceClaimStatuses: [{ name, resourceClaimName: 'generated' }] };
      await api.strategicMerge(path(api, 'claims', 'status'), { status }, { view: shown });
    }
  },
  'a parent needs a Workload': async (api) => {
    await create(api, 'a', gang(1, { parentCompositePodGroupName: 'parent', ...fromTemplate }));
    await create(api, 'b', gang(1, { parentCompositePodGroupName: 'parent' }));
    await create(api, 'b', gang(1, { parentCompositePodGroupName: 'Not a name', ...fromTemplate }));
    await merge(api, 'a', { parentCompositePodGroupName: null });
  },
  'the preemption policy is that of the priority class': async (api) => {
    const { namespace: priorityClassName } = api;
    const preemptionPolicy = 'Never';
    await givenPriorityClass(api, { metadata: { name: priorityClassName }, value: 1000, preemptionPolicy });
    await create(api, 'a', gang(1));
    await create(api, 'b', gang(1, { priorityClassName, preemptionPolicy }));
    // The default of the field counts as set.
    await create(api, 'c', gang(1, { priorityClassName }));
    await create(api, 'c', gang(1, { preemptionPolicy }));
    await create(api, 'c', gang(1, { preemptionPolicy: 'Sometimes' }));
    await merge(api, 'a', { preemptionPolicy });
  },
};

/** Returns the fields of a pod group as a tree: field -> its fields, those of its items, or its type. */
function fieldsOf({ components: { schemas } }: any): unknown {
  const resolve = (schema: any): any => {
    const reference = schema.$ref ?? schema.allOf?.[0].$ref;
    return reference === undefined ? schema : resolve(schemas[reference.split('/').at(-1)]);
  };
  const treeOf = (found: any): unknown => {
    const { type, format, items, properties } = resolve(found);
    if (items !== undefined) return [treeOf(items)];
    if (type !== 'object') return format === undefined ? type : `${type} (${format})`;
    const fields = Object.keys(properties ?? {}).toSorted();
    return Object.fromEntries(
      fields.map((field) => [field, field === 'metadata' ? 'object' : treeOf(properties[field])]),
    );
  };
  const isPodGroup = (each: any): boolean =>
    each['x-kubernetes-group-version-kind']?.some(({ kind }: any) => kind === 'PodGroup') === true;
  return treeOf(Object.values(schemas).find(isPodGroup));
}
