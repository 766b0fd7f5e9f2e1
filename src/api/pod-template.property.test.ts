import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PodProjector } from './pod-projector.ts';
import { ResourceNames } from './resource-names.ts';

const requests = fc.dictionary(fc.constantFrom('cpu', 'memory', 'example.com/gpu'), fc.constantFrom('1', '1000m', 2));
const resources = fc.option(fc.record({ requests }, { requiredKeys: [] }), { nil: undefined });
const name = fc.constantFrom('a', 'b');
const container = fc.record(
  {
    name,
    image: fc.constantFrom('busybox', 'nginx:1'),
    resources,
    ports: fc.array(fc.record({ hostPort: fc.constantFrom(0, 80) }), { maxLength: 1 }),
    volumeMounts: fc.array(fc.record({ name, bindMountOptions: fc.constantFrom([], ['x']) }), { maxLength: 1 }),
  },
  { requiredKeys: ['name'] },
);
const initContainer = fc
  .tuple(container, fc.constantFrom(undefined, 'Always'))
  .map(([each, restartPolicy]) => ({ ...each, restartPolicy }));
const spec = fc.record(
  {
    containers: fc.array(container, { maxLength: 2 }),
    initContainers: fc.array(initContainer, { maxLength: 2 }),
    resources,
    overhead: requests,
    nodeSelector: fc.dictionary(name, name),
    tolerations: fc.array(fc.record({ key: name, operator: fc.constant('Exists') }), { maxLength: 1 }),
    nodeName: name,
    hostNetwork: fc.boolean(),
    hostUsers: fc.boolean(),
  },
  { requiredKeys: ['containers'] },
);
const status = fc.record(
  {
    containerStatuses: fc.array(fc.record({ name, allocatedResources: requests }), { maxLength: 1 }),
    conditions: fc.constantFrom([], [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }]),
  },
  { requiredKeys: [] },
);
const owners = fc.constantFrom(
  undefined,
  [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', controller: true }],
  [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'db', controller: true }],
);

type Spec = typeof spec extends fc.Arbitrary<infer T> ? T : never;

/** Each function changes one field that is part of a template, if the spec has the field. */
const changes: readonly ((before: Spec) => object)[] = [
  ({ initContainers, ...rest }) => ({
    ...rest,
    initContainers: initContainers?.map(({ restartPolicy, ...each }) => ({
      ...each,
      restartPolicy: restartPolicy === undefined ? 'Always' : undefined,
    })),
  }),
  ({ containers, ...rest }) => ({
    ...rest,
    containers: containers.map((each) => ({ ...each, resources: { requests: { cpu: '7' } } })),
  }),
  ({ initContainers, ...rest }) => ({
    ...rest,
    initContainers: initContainers?.map((each) => ({ ...each, resources: { requests: { cpu: '7' } } })),
  }),
  (before) => ({ ...before, resources: { requests: { cpu: '7' } } }),
  (before) => ({ ...before, overhead: { cpu: '7' } }),
];

it('projects a pod independently of earlier pods', () => {
  const metadata = { uid: 'u', namespace: 'default', name: 'p', resourceVersion: '1' };
  fc.assert(
    fc.property(
      fc.array(fc.record({ spec, status: fc.option(status, { nil: undefined }), owners }), { minLength: 2 }),
      fc.boolean(),
      (pods, images) => {
        const names = new ResourceNames();
        const projector = new PodProjector(names, { images });
        // Twice, so that the projector sees each pod again.
        for (const { owners: ownerReferences, spec: first, status: shown } of [...pods, ...pods]) {
          for (const each of [first, ...changes.map((change) => change(first))]) {
            const raw = { metadata: { ...metadata, ownerReferences }, spec: each, status: shown };
            const fresh = new PodProjector(names, { images }).project(raw).template;
            expect(projector.project(raw).template).toEqual(fresh);
          }
        }
      },
    ),
    { numRuns: 100 },
  );
});

it('shares a template between pods with equivalent specs, whatever their notation and volume names', () => {
  const projector = new PodProjector(new ResourceNames());
  const templateOf = (cpu: string, volume: string, more: object = {}): object =>
    projector.project({
      metadata: { uid: volume, namespace: 'default', name: volume, resourceVersion: '1' },
      spec: {
        containers: [{ name: 'main', resources: { requests: { cpu } }, volumeMounts: [{ name: volume }] }],
        ...more,
      },
    }).template;
  const first = templateOf('1', 'a');
  expect(templateOf('1', 'b', { nodeName: 'n1' })).toBe(first);
  expect(templateOf('1000m', 'c')).toBe(first);
  // Many notations: the projector forgets them, but the template stays the same.
  for (let i = 0; i < 1000; i++) {
    expect(templateOf(`${'0'.repeat(i % 32)}1.${'0'.repeat(1 + Math.floor(i / 32))}`, 'd')).toBe(first);
  }
  expect(templateOf('1', 'e')).toBe(first);
  expect(templateOf('2', 'a')).not.toBe(first);
});
