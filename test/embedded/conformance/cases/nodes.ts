import type { CaseGroup } from '../conformance-case.ts';

const nodes = '/api/v1/nodes';
const priorityClasses = '/apis/scheduling.k8s.io/v1/priorityclasses';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export const nodesAndPriorities: CaseGroup = {
  'a node keeps the status that it is created with': async (api) => {
    const { namespace: name } = api;
    await api.create(nodes, {
      metadata: { name, labels: { zone: 'a' } },
      status: {
        capacity: { cpu: '4000m', memory: '1024Mi', pods: 110 },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
    await api.merge(
      `${nodes}/${name}`,
      { status: { capacity: { cpu: '8' } } },
      { view: ({ status }) => status.capacity },
    );
    await api.merge(
      `${nodes}/${name}/status`,
      { status: { allocatable: { cpu: '0.5' } } },
      { view: ({ status }) => status },
    );
    await api.delete(`${nodes}/${name}`);
  },
  'the status path of a node changes only the status': async (api) => {
    const { namespace: name } = api;
    await api.givenCreated(nodes, { metadata: { name } });
    await api.strategicMerge(
      `${nodes}/${name}/status`,
      {
        metadata: { labels: { zone: 'a' } },
        spec: { unschedulable: true },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      },
      {
        view: ({ metadata, spec, status }) => ({
          labels: metadata.labels ?? {},
          unschedulable: spec.unschedulable ?? false,
          status,
        }),
      },
    );
    await api.given('DELETE', `${nodes}/${name}`);
  },
  'taints must be well formed': async (api) => {
    const { namespace: name } = api;
    await api.create(nodes, { metadata: { name }, spec: { taints: [{ key: 'a', effect: 'Nope' }] } });
    await api.create(nodes, { metadata: { name }, spec: { taints: [{ key: 'not a key', effect: 'NoSchedule' }] } });
    await api.create(nodes, {
      metadata: { name },
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
    });
  },
  'a node is cordoned and uncordoned': async (api) => {
    const { namespace: name } = api;
    await api.givenCreated(nodes, {
      metadata: { name },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.0.0' } },
    });
    await api.strategicMerge(
      `${nodes}/${name}`,
      { spec: { unschedulable: true } },
      { view: ({ spec }) => spec.unschedulable },
    );
    await api.get(`${nodes}?fieldSelector=spec.unschedulable%3Dtrue,metadata.name%3D${name}`, {
      view: ({ items }) => items.map(({ metadata }: any) => metadata.name),
    });
    await api.get(`${nodes}?fieldSelector=metadata.name%3D${name}`, { accept: table });
    await api.strategicMerge(
      `${nodes}/${name}`,
      { spec: { unschedulable: null } },
      { view: ({ spec }) => spec.unschedulable ?? 'open' },
    );
    await api.given('DELETE', `${nodes}/${name}`);
  },
  'a priority class is created and keeps its value': async (api) => {
    const { namespace: name } = api;
    await api.create(priorityClasses, { metadata: { name }, value: 1000 });
    await api.merge(`${priorityClasses}/${name}`, { value: 2000 });
    await api.delete(`${priorityClasses}/${name}`);
  },
  "names and values of the system's priority classes are reserved": async (api) => {
    await api.create(priorityClasses, { metadata: { name: `system-${api.namespace}` }, value: 1 });
    await api.create(priorityClasses, { metadata: { name: api.namespace }, value: 2_000_000_000 });
    await api.delete(`${priorityClasses}/system-node-critical`, undefined, {
      view: ({ reason, code }) => ({ reason, code }),
    });
  },
  'a preemption policy has a closed list of values': async (api) => {
    await api.create(priorityClasses, { metadata: { name: api.namespace }, value: 1, preemptionPolicy: 'Sometimes' });
  },
};
