import type { CaseGroup } from '../conformance-case.ts';
import { binding, pod } from './objects.ts';

const container = { name: 'main', image: 'main' };

export const pods: CaseGroup = {
  'a pod gets its defaults': async (api) => {
    await api.create('pods', pod('a'));
  },
  'the defaults of containers depend on their other fields': async (api) => {
    const containers = [
      {
        ...container,
        image: 'main:1',
        ports: [{ containerPort: 80 }],
        resources: { limits: { cpu: '0.5', memory: '1024Mi' }, requests: { cpu: 0.1 } },
      },
      { name: 'second', image: 'second@sha256:abc', env: [{ name: 'KEY' }] },
    ];
    await api.create(
      'pods',
      pod('a', { containers, restartPolicy: 'Never', tolerations: [{ key: 'a', operator: 'Exists' }] }),
    );
  },
  'the server sets the status of a new pod': async (api) => {
    await api.create('pods', { ...pod('a'), status: { phase: 'Running', podIP: '10.1.1.1' } });
  },
  'a pod needs a container with a name': async (api) => {
    await api.create('pods', pod('a', { containers: [] }));
    await api.create('pods', { metadata: { name: 'a' }, spec: {} });
    await api.create('pods', pod('a', { containers: [{ image: 'main' }] }));
    await api.create('pods', pod('a', { containers: [container, container] }));
  },
  'a container needs an image': async (api) => {
    await api.create('pods', pod('a', { containers: [{ name: 'main' }] }));
  },
  'amounts must be quantities': async (api) => {
    await api.create('pods', pod('a', { containers: [{ ...container, resources: { requests: { cpu: 'much' } } }] }));
    await api.create('pods', pod('a', { containers: [{ ...container, resources: { requests: { cpu: '-1' } } }] }));
  },
  'a request must not be above its limit': async (api) => {
    const resources = { requests: { cpu: '2' }, limits: { cpu: '1' } };
    await api.create('pods', pod('a', { containers: [{ ...container, resources }] }));
  },
  'extended resources have a limit that equals the request': async (api) => {
    const resources = { requests: { 'example.com/gpu': '1' } };
    await api.create('pods', pod('a', { containers: [{ ...container, resources }] }));
    const whole = { limits: { 'example.com/gpu': '1' } };
    await api.create('pods', pod('a', { containers: [{ ...container, resources: whole }] }), {
      view: ({ spec }) => spec.containers,
    });
  },
  'policies have a closed list of values': async (api) => {
    await api.create('pods', pod('a', { restartPolicy: 'Sometimes' }));
    await api.create('pods', pod('a', { tolerations: [{ key: 'a', operator: 'Near' }] }));
  },
  'a selector must be well formed': async (api) => {
    await api.create('pods', pod('a', { nodeSelector: { 'not a key': 'value' } }));
  },
  'a priority class gives the priority': async (api) => {
    await api.create('pods', pod('a', { priorityClassName: 'system-node-critical' }), {
      view: ({ status, spec, message }) => ({
        status,
        priority: spec?.priority,
        policy: spec?.preemptionPolicy,
        message,
      }),
    });
    await api.create('pods', pod('b', { priorityClassName: 'missing-class' }));
    await api.create('pods', pod('c', { priority: 5 }));
  },
  'a patch cannot change the node of a pod': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.merge(
      'pods/a',
      { spec: { nodeName: 'node' } },
      {
        view: ({ message, ...rest }) => ({
          ...rest,
          message: message.slice(0, 200),
          details: rest.details && {
            ...rest.details,
            causes: rest.details.causes.map(({ reason, field }: any) => ({ reason, field })),
          },
        }),
      },
    );
  },
  'a pod may change its image and gain tolerations': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.strategicMerge(
      'pods/a',
      { spec: { containers: [{ name: 'main', image: 'other' }] } },
      { view: ({ spec }) => spec.containers },
    );
    await api.jsonPatch(
      'pods/a',
      [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'a', operator: 'Exists' } }],
      { view: ({ spec }) => spec.tolerations },
    );
    await api.jsonPatch('pods/a', [{ op: 'remove', path: '/spec/tolerations/0' }], {
      view: ({ reason, code, details }) => ({ reason, code, fields: details.causes.map(({ field }: any) => field) }),
    });
  },
  'the status is written through a separate path': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.merge('pods/a', { status: { phase: 'Running' } }, { view: ({ status }) => status });
    await api.strategicMerge('pods/a/status', {
      metadata: { labels: { color: 'red' } },
      spec: { restartPolicy: 'Never' },
      status: { phase: 'Running', podIP: '10.1.1.1' },
    });
    await api.get('pods/a/status', { view: ({ kind, status }) => ({ kind, status }) });
  },
  'conditions are merged by their type': async (api) => {
    await api.givenCreated('pods', pod('a'));
    const patch = (type: string, status: string): object => ({ status: { conditions: [{ type, status }] } });
    await api.strategicMerge('pods/a/status', patch('PodScheduled', 'False'), { view: ({ status }) => status });
    await api.strategicMerge('pods/a/status', patch('Ready', 'False'), { view: ({ status }) => status });
    await api.strategicMerge(
      'pods/a/status',
      {
        status: {
          conditions: [
            { type: 'PodScheduled', status: 'True', reason: 'Done', lastTransitionTime: '2024-01-01T00:00:00Z' },
          ],
        },
      },
      { view: ({ status }) => status },
    );
    await api.strategicMerge(
      'pods/a/status',
      { status: { conditions: [{ type: 'Ready', $patch: 'delete' }] } },
      { view: ({ status }) => status },
    );
  },
  'scheduling gates can be removed but not added': async (api) => {
    await api.create('pods', pod('a', { schedulingGates: [{ name: 'example.com/a' }, { name: 'example.com/b' }] }), {
      view: ({ spec, status }) => ({ gates: spec.schedulingGates, status }),
    });
    await api.strategicMerge(
      'pods/a',
      { spec: { schedulingGates: [{ name: 'example.com/a', $patch: 'delete' }] } },
      { view: ({ spec }) => spec.schedulingGates },
    );
    await api.strategicMerge(
      'pods/a',
      { spec: { schedulingGates: [{ name: 'example.com/c' }] } },
      { view: ({ reason, code, details }) => ({ reason, code, causes: details.causes }) },
    );
    await api.merge(
      'pods/a',
      { spec: { schedulingGates: null } },
      { view: ({ spec, status }) => ({ gates: spec.schedulingGates ?? 'none', status }) },
    );
    await api.create('pods', pod('b', { nodeName: 'node', schedulingGates: [{ name: 'example.com/a' }] }));
  },
  'the selector of a gated pod may be narrowed': async (api) => {
    await api.givenCreated(
      'pods',
      pod('a', { nodeSelector: { zone: 'a' }, schedulingGates: [{ name: 'example.com/a' }] }),
    );
    await api.merge('pods/a', { spec: { nodeSelector: { disk: 'fast' } } }, { view: ({ spec }) => spec.nodeSelector });
    await api.merge(
      'pods/a',
      { spec: { nodeSelector: { zone: null } } },
      {
        view: ({ reason, code, details }) => ({ reason, code, fields: details.causes.map(({ field }: any) => field) }),
      },
    );
  },
  'a pod may be created with a node name': async (api) => {
    await api.create('pods', pod('a', { nodeName: 'some-node' }), {
      view: ({ spec, status }) => ({ node: spec.nodeName, status }),
    });
    await api.create('pods/a/binding', binding('a'));
  },
  'subresources that need a container are not served without a kubelet': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.get('pods/a/log', { view: ({ status }) => status });
  },
};
