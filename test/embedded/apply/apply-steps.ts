import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/embedded/json.ts';

/** One write of a sequence. */
export type ApplyStep =
  | {
      readonly do: 'apply';
      readonly manager: string;
      readonly force: boolean;
      readonly config: JsonObject;
      readonly status?: boolean;
    }
  | { readonly do: 'merge'; readonly manager: string; readonly patch: JsonObject; readonly status?: boolean }
  /** Reads the object, and puts it with what `merge` would change. */
  | { readonly do: 'replace'; readonly manager: string; readonly patch: JsonObject };

/** A kind that sequences are played with. */
export interface AppliedKind {
  readonly name: string;
  /** Of the collection, for a namespace. */
  readonly path: (namespace: string) => string;
  readonly base: JsonObject;
  /** What a write may say beside apiVersion, kind and name. */
  readonly content: fc.Arbitrary<JsonObject>;
  readonly status?: fc.Arbitrary<JsonObject>;
}

const some = <T extends Record<string, fc.Arbitrary<JsonValue>>>(fields: T): fc.Arbitrary<JsonObject> =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
const word = fc.constantFrom('one', 'two');
const number = fc.integer({ min: 1, max: 3 });
const words = fc.dictionary(fc.constantFrom('a', 'b', 'c'), word, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>;
const metadata = some({ labels: words, annotations: words });
const listBy = (key: string, item: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonValue> =>
  fc.uniqueArray(item, { selector: (each) => each[key], maxLength: 3 });

const container = (name: string): fc.Arbitrary<JsonObject> =>
  some({
    args: fc.array(word, { maxLength: 2 }),
    env: listBy('name', fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: word })),
    ports: fc.uniqueArray(
      fc.constantFrom<JsonObject>(
        { containerPort: 80 },
        { containerPort: 80, protocol: 'UDP', name: 'udp' },
        { containerPort: 81, protocol: 'TCP' },
      ),
      { maxLength: 2 },
    ),
    resources: some({ limits: some({ cpu: fc.constantFrom('1', '2') }), requests: some({ cpu: fc.constant('1') }) }),
  }).chain((more) => fc.constantFrom('image:1', 'image:2').map((image) => ({ name, image, ...more })));

const labels = { app: 'web' };

export const appliedKinds: readonly AppliedKind[] = [
  {
    name: 'a ConfigMap',
    path: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
    base: { apiVersion: 'v1', kind: 'ConfigMap' },
    content: some({ metadata, data: words, immutable: fc.constant(false) }),
  },
  {
    name: 'a Deployment',
    path: (namespace) => `/apis/apps/v1/namespaces/${namespace}/deployments`,
    base: { apiVersion: 'apps/v1', kind: 'Deployment' },
    content: fc
      .record({
        metadata,
        more: some({ replicas: number, paused: fc.boolean(), minReadySeconds: number }),
        pod: some({
          nodeSelector: words,
          tolerations: fc.array(fc.record({ key: word, operator: fc.constant('Exists') }), { maxLength: 2 }),
          terminationGracePeriodSeconds: number,
          securityContext: some({ runAsUser: number, runAsNonRoot: fc.boolean() }),
        }),
        containers: fc
          .constantFrom(['x'], ['x', 'y'], ['y', 'x'], ['z', 'x'])
          .chain((names) => fc.tuple(...names.map(container))),
        strategy: fc.constantFrom<JsonObject>(
          {},
          { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
        ),
      })
      .map(({ metadata, more, pod, containers, strategy }) => ({
        metadata,
        spec: {
          ...more,
          ...strategy,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { ...pod, containers } },
        },
      })),
    status: some({
      replicas: number,
      conditions: listBy(
        'type',
        fc.record({
          type: fc.constantFrom('Available', 'Progressing'),
          status: fc.constantFrom('True', 'False'),
          reason: word,
        }),
      ),
    }).map((status) => ({ status })),
  },
  {
    name: 'a Service',
    path: (namespace) => `/api/v1/namespaces/${namespace}/services`,
    base: { apiVersion: 'v1', kind: 'Service' },
    content: fc
      .record({
        metadata,
        selector: words,
        ports: fc.uniqueArray(
          fc.constantFrom<JsonObject>(
            { name: 'a', port: 80 },
            { name: 'b', port: 81, protocol: 'UDP' },
            { name: 'c', port: 82, targetPort: 'http' },
            { name: 'c', port: 80, protocol: 'SCTP' },
          ),
          { minLength: 1, maxLength: 3, selector: (port) => port.name },
        ),
      })
      .map(({ metadata, selector, ports }) => ({ metadata, spec: { selector, ports } })),
  },
  {
    name: 'a custom resource',
    path: (namespace) => `/apis/apply.example.com/v1/namespaces/${namespace}/gadgets`,
    base: { apiVersion: 'apply.example.com/v1', kind: 'Gadget' },
    content: fc.record({
      metadata,
      spec: some({
        size: number,
        tags: fc.uniqueArray(word, { maxLength: 2 }),
        parts: listBy(
          'name',
          fc.record(
            { name: fc.constantFrom('p', 'q', 'r'), count: number },
            { requiredKeys: ['name'] },
          ) as fc.Arbitrary<JsonObject>,
        ),
        steps: fc.array(word, { maxLength: 2 }),
        whole: words,
        open: some({ a: number, b: words, c: fc.array(number, { maxLength: 2 }) }),
        words,
        amount: fc.constantFrom<JsonValue>(1, '10%'),
        inner: some({ deep: some({ x: number, y: number }) }),
      }),
    }),
    status: some({ phase: word, seen: some({ count: number }) }).map((status) => ({ status })),
  },
];

/** The definition of the custom resource: every way in which a schema says how parts are owned. */
export const gadgetDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.apply.example.com' },
  spec: {
    group: 'apply.example.com',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, count: { type: 'integer', default: 7 } },
                    },
                  },
                  steps: { type: 'array', items: { type: 'string' } },
                  whole: {
                    type: 'object',
                    additionalProperties: { type: 'string' },
                    'x-kubernetes-map-type': 'atomic',
                  },
                  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  words: { type: 'object', additionalProperties: { type: 'string' } },
                  amount: { 'x-kubernetes-int-or-string': true },
                  inner: {
                    type: 'object',
                    properties: {
                      deep: { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'integer' } } },
                    },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  seen: { type: 'object', properties: { count: { type: 'integer' } } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Sequences of writes by a few managers, an apply first or not. */
export function stepsOf({ content, status }: AppliedKind): fc.Arbitrary<ApplyStep[]> {
  const manager = fc.constantFrom('ann', 'ben', 'cid');
  const steps: fc.Arbitrary<ApplyStep>[] = [
    fc.record({ do: fc.constant('apply' as const), manager, force: fc.boolean(), config: content }),
    fc.record({ do: fc.constant('apply' as const), manager, force: fc.boolean(), config: content }),
    fc.record({ do: fc.constant('merge' as const), manager, patch: content }),
    fc.record({ do: fc.constant('replace' as const), manager, patch: content }),
  ];
  if (status !== undefined) {
    const isStatus = fc.constant(true);
    steps.push(
      fc.record({ do: fc.constant('apply' as const), manager, force: fc.boolean(), config: status, status: isStatus }),
      fc.record({ do: fc.constant('merge' as const), manager, patch: status, status: isStatus }),
    );
  }
  return fc.array(fc.oneof(...steps), { minLength: 2, maxLength: 8 });
}
