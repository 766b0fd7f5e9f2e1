import type { CaseGroup } from '../conformance-case.ts';
import { configMap, pod, podGroup } from './objects.ts';

const containersOf = ({ spec, ...rest }: any): unknown => spec?.containers ?? rest;

export const patches: CaseGroup = {
  'a merge patch sets, replaces and removes fields': async (api) => {
    await api.givenCreated('configmaps', configMap('a', { data: { keep: '1', change: '2', drop: '3' } }));
    await api.merge('configmaps/a', {
      data: { change: '4', drop: null, add: '5' },
      metadata: { labels: { color: 'red' } },
    });
    await api.merge('configmaps/a', { data: null, metadata: { labels: null } });
  },
  'a merge patch replaces lists': async (api) => {
    await api.givenCreated('pods', pod('a'));
    await api.merge(
      'pods/a',
      { spec: { containers: [{ name: 'main', image: 'other' }] } },
      { view: ({ spec, code, reason }) => spec?.containers ?? { code, reason } },
    );
  },
  'a strategic merge patch merges lists by their keys': async (api) => {
    await api.givenCreated(
      'pods',
      pod('a', {
        containers: [
          { name: 'main', image: 'main' },
          { name: 'second', image: 'second' },
        ],
      }),
    );
    await api.strategicMerge(
      'pods/a',
      { spec: { containers: [{ name: 'second', image: 'other' }] } },
      { view: containersOf },
    );
    await api.strategicMerge(
      'pods/a',
      {
        spec: {
          $setElementOrder: undefined,
          '$setElementOrder/containers': [{ name: 'main' }, { name: 'second' }],
          containers: [{ name: 'main', image: 'third' }],
        },
      },
      { view: containersOf },
    );
  },
  'a strategic merge patch deletes and replaces by directive': async (api) => {
    const taints = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'b', effect: 'NoSchedule' },
    ];
    await api.givenCreated('/api/v1/nodes', {
      metadata: { name: api.namespace },
      spec: { taints, podCIDRs: ['10.1.0.0/24'], podCIDR: '10.1.0.0/24' },
    });
    await api.strategicMerge(
      `/api/v1/nodes/${api.namespace}`,
      { spec: { taints: [{ key: 'b', $patch: 'delete' }] }, metadata: { labels: { a: '1', b: '2' } } },
      {
        view: ({ spec, metadata }) => ({
          taints: spec.taints.filter(({ key }: any) => !key.startsWith('node.kubernetes.io/')),
          labels: metadata.labels,
        }),
      },
    );
    await api.strategicMerge(
      `/api/v1/nodes/${api.namespace}`,
      { spec: { taints: [{ key: 'c', effect: 'NoExecute' }, { $patch: 'replace' }] } },
      { view: ({ spec }) => spec.taints },
    );
    await api.strategicMerge(
      `/api/v1/nodes/${api.namespace}`,
      { metadata: { labels: { $patch: 'replace', c: '3' } } },
      { view: ({ metadata }) => metadata.labels },
    );
    await api.given('DELETE', `/api/v1/nodes/${api.namespace}`);
  },
  'a strategic merge patch with a bad directive is rejected': async (api) => {
    await api.givenCreated('configmaps', configMap('a', { data: { key: 'value' } }));
    await api.strategicMerge(
      'configmaps/a',
      { data: { $patch: 'nope' } },
      { view: ({ reason, code }) => ({ reason, code }) },
    );
  },
  'a strategic merge patch merges finalizers as a set': async (api) => {
    await api.givenCreated(
      'configmaps',
      configMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } }),
    );
    await api.strategicMerge('configmaps/a', { metadata: { finalizers: ['example.com/c'] } });
    await api.strategicMerge('configmaps/a', {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
    });
  },
  'a JSON patch applies its operations in order': async (api) => {
    await api.givenCreated('configmaps', configMap('a', { data: { one: '1', two: '2' } }));
    await api.jsonPatch('configmaps/a', [
      { op: 'test', path: '/data/one', value: '1' },
      { op: 'add', path: '/data/three', value: '3' },
      { op: 'replace', path: '/data/two', value: 'two' },
      { op: 'copy', from: '/data/two', path: '/data/copied' },
      { op: 'move', from: '/data/one', path: '/data/moved' },
      { op: 'remove', path: '/data/three' },
      { op: 'add', path: '/metadata/labels', value: { 'example.com/color': 'red' } },
      { op: 'replace', path: '/metadata/labels/example.com~1color', value: 'blue' },
    ]);
  },
  'a JSON patch whose test fails changes nothing': async (api) => {
    await api.givenCreated('configmaps', configMap('a', { data: { one: '1' } }));
    await api.jsonPatch(
      'configmaps/a',
      [
        { op: 'add', path: '/data/two', value: '2' },
        { op: 'test', path: '/data/one', value: 'nope' },
      ],
      { view: ({ reason, code, details }) => ({ reason, code, details }) },
    );
    await api.get('configmaps/a');
  },
  'a JSON patch of a missing path is rejected': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    for (const operation of [
      { op: 'remove', path: '/data/none' },
      { op: 'replace', path: '/data/none', value: '' },
      { op: 'nope', path: '/data' },
    ]) {
      await api.jsonPatch('configmaps/a', [operation], { view: ({ reason, code }) => ({ reason, code }) });
    }
  },
  'a patch that is not JSON is rejected': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.merge('configmaps/a', '{"data":', { view: ({ reason, code }) => ({ reason, code }) });
    await api.jsonPatch('configmaps/a', { op: 'add' }, { view: ({ reason, code }) => ({ reason, code }) });
  },
  'a patch in an unsupported format is rejected': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.merge(
      'configmaps/a',
      {},
      { contentType: 'application/json', view: ({ reason, code }) => ({ reason, code }) },
    );
  },
  'custom resources do not support strategic merge patches': async (api) => {
    await api.givenCreated('podgroups', podGroup('a', { minMember: 1 }));
    await api.strategicMerge(
      'podgroups/a',
      { spec: { minMember: 2 } },
      { view: ({ reason, code }) => ({ reason, code }) },
    );
    await api.jsonPatch('podgroups/a', [{ op: 'replace', path: '/spec/minMember', value: 2 }]);
    await api.merge('podgroups/a', { spec: { minMember: 3 } });
  },
  'a patch needs an existing object': async (api) => {
    await api.merge('configmaps/none', { data: {} });
  },
  'a patch cannot rename an object': async (api) => {
    await api.givenCreated('configmaps', configMap('a'));
    await api.merge('configmaps/a', { metadata: { name: 'b' } });
    await api.merge('configmaps/a', { metadata: { namespace: 'another' } });
    await api.merge('configmaps/a', { metadata: { name: null } });
    await api.merge('configmaps/a', { metadata: { uid: '11111111-2222-4333-8444-555555555555' } });
  },
  'unknown fields in a patch are rejected by strict validation': async (api) => {
    // The message repeats the patch, or the whole patched object, in the server's internal format.
    const view = ({ reason, code, details }: any): unknown => ({
      reason,
      code,
      fields: details.causes.map(({ field, reason }: any) => [field, reason]),
    });
    await api.givenCreated('configmaps', configMap('a'));
    await api.merge('configmaps/a?fieldValidation=Strict', { nope: 1 }, { view });
    await api.merge('configmaps/a', { nope: 1 });
    await api.strategicMerge('configmaps/a?fieldValidation=Strict', { metadata: { nope: 1 } }, { view });
  },
  'a patch with an invalid result is rejected': async (api) => {
    await api.givenCreated('podgroups', podGroup('a', { minMember: 1 }));
    await api.merge('podgroups/a', { spec: { minMember: 0 } });
    await api.merge('podgroups/a', { spec: { minMember: 'three' } });
    await api.givenCreated('configmaps', configMap('b'));
    await api.merge('configmaps/b', { metadata: { labels: { key: 'not a value' } } });
  },
};
