import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/plane/apiserver/json.ts';

/** A kind that sequences are played with. */
export interface AppliedKind {
  readonly name: string;
  /** Of the collection, for a namespace. */
  readonly path: (namespace: string) => string;
  readonly base: JsonObject;
  /** What a write may say beside apiVersion, kind and name. */
  readonly content: fc.Arbitrary<JsonObject>;
  readonly status?: fc.Arbitrary<JsonObject>;
  /** Custom resources know no strategic merge patch. */
  readonly isCustom?: boolean;
}

const some = <T extends Record<string, fc.Arbitrary<JsonValue>>>(fields: T): fc.Arbitrary<JsonObject> =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
const word = fc.constantFrom('one', 'two');
const number = fc.integer({ min: 1, max: 3 });
const words = fc.dictionary(fc.constantFrom('a', 'b', 'c'), word, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>;
const someWords = words.filter((each) => Object.keys(each).length > 0);
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

const rule = fc.constantFrom<JsonObject>(
  { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
  { apiGroups: ['apps', ''], resources: ['deployments'], verbs: ['list', 'watch'], resourceNames: ['one'] },
  { apiGroups: [''], resources: [], verbs: ['get'] },
);
const subject = fc.constantFrom<JsonObject>(
  { kind: 'User', name: 'one' },
  { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'two' },
  { kind: 'ServiceAccount', name: 'three', namespace: 'default' },
  { kind: 'ServiceAccount', name: 'three' },
);
const base64 = fc.constantFrom('b25l', 'dHdv');
const secrets = fc.dictionary(fc.constantFrom('a', 'b', 'c'), base64, {
  minKeys: 1,
  maxKeys: 3,
}) as fc.Arbitrary<JsonObject>;

/** Paths of collections, for a namespace. */
const core =
  (plural: string): AppliedKind['path'] =>
  (namespace) =>
    `/api/v1/namespaces/${namespace}/${plural}`;
const grouped =
  (group: string, plural: string): AppliedKind['path'] =>
  (namespace) =>
    `/apis/${group}/namespaces/${namespace}/${plural}`;
const rbac = 'rbac.authorization.k8s.io/v1';

export const appliedKinds: readonly AppliedKind[] = [
  {
    name: 'a ConfigMap',
    path: core('configmaps'),
    base: { apiVersion: 'v1', kind: 'ConfigMap' },
    content: some({ metadata, data: words, immutable: fc.constant(false) }),
  },
  {
    name: 'a Deployment',
    path: grouped('apps/v1', 'deployments'),
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
    path: core('services'),
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
    // No empty data: kube-apiserver calls it a change of data that is not there when the secret may not change any more.
    name: 'a Secret',
    path: core('secrets'),
    base: { apiVersion: 'v1', kind: 'Secret' },
    content: some({
      metadata,
      data: secrets,
      stringData: words,
      type: fc.constantFrom('Opaque', 'example.com/own'),
      immutable: fc.boolean(),
    }),
  },
  {
    name: 'a ServiceAccount',
    path: core('serviceaccounts'),
    base: { apiVersion: 'v1', kind: 'ServiceAccount' },
    content: some({
      metadata,
      automountServiceAccountToken: fc.boolean(),
      imagePullSecrets: listBy('name', fc.record({ name: word })),
      secrets: listBy('name', fc.record({ name: word })),
    }),
  },
  {
    name: 'a Role',
    path: grouped(rbac, 'roles'),
    base: { apiVersion: rbac, kind: 'Role' },
    content: some({ metadata, rules: fc.array(rule, { maxLength: 2 }) }),
  },
  {
    name: 'a RoleBinding',
    path: grouped(rbac, 'rolebindings'),
    base: { apiVersion: rbac, kind: 'RoleBinding' },
    content: fc.record(
      {
        metadata,
        roleRef: fc.constantFrom<JsonObject>(
          { kind: 'Role', name: 'one', apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'ClusterRole', name: 'edit', apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'ClusterRole', name: 'edit' },
        ),
        subjects: fc.array(subject, { maxLength: 3 }),
      },
      { requiredKeys: ['roleRef'] },
    ),
  },
  {
    // Nothing empty: kube-apiserver raises the generation for an empty list or map that it does not even store.
    name: 'a NetworkPolicy',
    path: grouped('networking.k8s.io/v1', 'networkpolicies'),
    base: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    content: fc.record({
      metadata,
      spec: some({
        podSelector: some({ matchLabels: someWords }),
        policyTypes: fc.uniqueArray(fc.constantFrom('Ingress', 'Egress'), { minLength: 1, maxLength: 2 }),
        ingress: fc.array(
          some({
            ports: fc.array(some({ port: fc.constantFrom<JsonValue>(80, 'http'), protocol: fc.constant('UDP') }), {
              minLength: 1,
              maxLength: 2,
            }),
            from: fc.array(fc.record({ podSelector: some({ matchLabels: someWords }) }), {
              minLength: 1,
              maxLength: 1,
            }),
          }),
          { minLength: 1, maxLength: 2 },
        ),
      }),
    }),
  },
  {
    name: 'a PodDisruptionBudget',
    path: grouped('policy/v1', 'poddisruptionbudgets'),
    base: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
    content: fc.record({
      metadata,
      spec: some({
        minAvailable: fc.constantFrom<JsonValue>(1, '10%', '200%'),
        maxUnavailable: fc.constantFrom<JsonValue>(1, '20%'),
        selector: some({ matchLabels: words }),
      }),
    }),
    status: some({
      disruptionsAllowed: number,
      conditions: listBy(
        'type',
        fc.record({
          type: fc.constantFrom('DisruptionAllowed', 'Other'),
          status: fc.constantFrom('True', 'False'),
          reason: word,
          message: word,
          lastTransitionTime: fc.constant('2026-01-01T00:00:00Z'),
        }),
      ),
    }).map((status) => ({ status })),
  },
  {
    name: 'a custom resource',
    isCustom: true,
    path: grouped('apply.example.com/v1', 'gadgets'),
    base: { apiVersion: 'apply.example.com/v1', kind: 'Gadget' },
    content: fc.record({
      // Nothing empty: kube-apiserver stores it, does not read it again, and so writes once more when nothing is to be written.
      metadata: some({ labels: someWords, annotations: someWords }),
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
        doors: fc.uniqueArray(
          fc.constantFrom<JsonObject>(
            { port: 80 },
            { port: 80, protocol: 'UDP', note: 'x' },
            { port: 81, protocol: 'TCP', hinges: ['one', 'two'] },
            { port: 82, protocol: 'TCP', hinges: ['two'] },
          ),
          { maxLength: 3 },
        ),
        numbers: fc.uniqueArray(number, { maxLength: 3 }),
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
