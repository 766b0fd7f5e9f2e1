import { isDeepStrictEqual } from 'node:util';
import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { kubectlPath } from '../../../../test/planes/kubectl.ts';
import type { Random } from '../../../base/random.ts';
import { seededRandom } from '../../../base/random.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { applyJsonPatch } from './apply-json-patch.ts';
import { applyMergePatch } from './apply-merge-patch.ts';
import { applyStrategicMergePatch } from './apply-strategic-merge-patch.ts';
import { PatchError } from './patch-error.ts';

type PatchType = 'strategic' | 'merge' | 'json';

interface Case {
  readonly type: PatchType;
  readonly document: JsonObject;
  readonly patch: JsonValue;
}

const pod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    labels: { app: 'web', tier: 'front' },
    annotations: { note: 'x' },
    finalizers: ['example.com/a', 'example.com/b', 'example.com/c'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u1' }],
  },
  spec: {
    restartPolicy: 'Never',
    containers: [
      {
        name: 'a',
        image: 'one',
        args: ['x', 'y'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
          { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
        ports: [
          { containerPort: 80, protocol: 'TCP', name: 'http' },
          { containerPort: 443, protocol: 'TCP' },
        ],
        resources: { limits: { cpu: '1' }, requests: { cpu: '500m' } },
        volumeMounts: [{ name: 'v1', mountPath: '/v1' }],
      },
      { name: 'b', image: 'two' },
      { name: 'c', image: 'three' },
    ],
    tolerations: [{ key: 'k', operator: 'Exists' }],
    nodeSelector: { zone: 'z1' },
    schedulingGates: [{ name: 'g1' }, { name: 'g2' }],
    volumes: [
      { name: 'v1', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'v2', configMap: { name: 'cm' } },
    ],
    topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
  },
  status: {
    phase: 'Pending',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False' },
    ],
  },
};

const node: JsonObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels: { rack: 'r1' } },
  spec: {
    podCIDRs: ['10.0.0.0/24'],
    taints: [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'b', value: 'x', effect: 'NoExecute' },
    ],
  },
  status: {
    capacity: { cpu: '4', pods: '110' },
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: 'n' },
    ],
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};

const strategicPatches: readonly (readonly [JsonObject, JsonValue])[] = [
  [pod, { metadata: { labels: { app: 'db', tier: null, extra: '1' } } }],
  [pod, { metadata: { annotations: null } }],
  [pod, { metadata: { labels: { $patch: 'replace', only: 'this' } } }],
  [pod, { metadata: { labels: { $patch: 'delete' } } }],
  [pod, { spec: { $patch: 'merge', hostname: 'x' } }],
  [pod, { metadata: { finalizers: ['example.com/d', 'example.com/a'] } }],
  [pod, { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/b', 'example.com/zz'] } }],
  [pod, { metadata: { '$setElementOrder/finalizers': ['example.com/c', 'example.com/a'] } }],
  [
    pod,
    {
      metadata: {
        '$setElementOrder/finalizers': ['example.com/d', 'example.com/c'],
        '$deleteFromPrimitiveList/finalizers': ['example.com/a'],
        finalizers: ['example.com/d'],
      },
    },
  ],
  [pod, { metadata: { '$deleteFromPrimitiveList/nothing': ['x'] } }],
  [pod, { metadata: { ownerReferences: [{ uid: 'u2', name: 'second', kind: 'Pod', apiVersion: 'v1' }] } }],
  [pod, { metadata: { ownerReferences: [{ uid: 'u1', $patch: 'delete' }] } }],
  [pod, { spec: { containers: [{ name: 'b', image: 'new' }] } }],
  [pod, { spec: { containers: [{ name: 'd', image: 'four', command: null }] } }],
  [pod, { spec: { containers: [{ name: 'b', $patch: 'delete' }] } }],
  [pod, { spec: { containers: [{ $patch: 'replace' }, { name: 'z', image: 'only' }] } }],
  [pod, { spec: { containers: [{ $patch: 'merge', name: 'a' }] } }],
  [pod, { spec: { containers: [{ $patch: 'delete' }] } }],
  [pod, { spec: { containers: [{ image: 'no-name' }] } }],
  [pod, { spec: { containers: ['a'] } }],
  [
    pod,
    {
      spec: {
        '$setElementOrder/containers': [{ name: 'c' }, { name: 'e' }, { name: 'a' }],
        containers: [
          { name: 'e', image: 'five' },
          { name: 'a', image: 'x' },
        ],
      },
    },
  ],
  [pod, { spec: { '$setElementOrder/containers': [{ name: 'c' }], containers: [{ name: 'a', $patch: 'delete' }] } }],
  [pod, { spec: { '$setElementOrder/containers': { name: 'c' } } }],
  [pod, { spec: { '$setElementOrder/initContainers': [{ name: 'i' }], initContainers: [{ name: 'i', image: 'x' }] } }],
  [pod, { spec: { containers: [{ name: 'a', env: [{ name: 'D', value: '4' }] }] } }],
  [
    pod,
    {
      spec: {
        containers: [
          {
            name: 'a',
            env: [
              { name: 'C', $patch: 'delete' },
              { name: 'B', value: null },
            ],
          },
        ],
      },
    },
  ],
  [
    pod,
    { spec: { containers: [{ name: 'a', args: ['z'], resources: { limits: { memory: '1Gi' }, requests: null } }] } },
  ],
  [
    pod,
    { spec: { containers: [{ name: 'a', ports: [{ containerPort: 8080 }, { containerPort: 80, name: 'web' }] }] } },
  ],
  [pod, { spec: { containers: [{ name: 'a', volumeMounts: [{ mountPath: '/v2', name: 'v2' }] }] } }],
  [pod, { spec: { volumes: [{ name: 'v1', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] } }],
  [pod, { spec: { volumes: [{ name: 'v1', $retainKeys: ['name'], hostPath: { path: '/x' } }] } }],
  [pod, { spec: { volumes: [{ name: 'v1', emptyDir: null, hostPath: { path: '/x' } }] } }],
  [pod, { spec: { $retainKeys: 'containers' } }],
  [pod, { spec: { tolerations: [{ key: 'new', operator: 'Exists' }] } }],
  [pod, { spec: { tolerations: [], schedulingGates: [{ name: 'g1', $patch: 'delete' }] } }],
  [pod, { spec: { schedulingGates: null, topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 2 }] } }],
  [pod, { spec: { securityContext: { $patch: 'replace', runAsUser: 1 } } }],
  [pod, { spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: null } } } }],
  [
    pod,
    {
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'New', status: 'True' },
        ],
        phase: 'Running',
      },
    },
  ],
  [pod, { metadata: { labels: 'text' } }],
  [node, { spec: { podCIDRs: ['10.0.1.0/24'], unschedulable: true } }],
  [node, { spec: { taints: [{ key: 'c', effect: 'NoSchedule' }] } }],
  [node, { spec: { taints: null } }],
  [node, { status: { addresses: [{ type: 'Hostname', address: 'm' }], capacity: { cpu: '8' } } }],
  [
    node,
    {
      status: {
        conditions: [
          { type: 'MemoryPressure', status: 'False' },
          { type: 'Ready', status: 'Unknown' },
        ],
      },
    },
  ],
];

const mergePatches: readonly JsonValue[] = [
  { spec: { containers: [{ name: 'only' }], nodeSelector: { zone: null, rack: 'r' } } },
  { metadata: { labels: { app: null }, finalizers: null, generateName: 'x' } },
  { spec: { affinity: { podAffinity: null } } },
];

const jsonPatches: readonly JsonValue[] = [
  [{ op: 'add', path: '/metadata/labels/a~1b', value: 'x' }],
  [{ op: 'add', path: '/spec/containers/1', value: { name: 'n' } }],
  [{ op: 'add', path: '/spec/containers/-', value: { name: 'n' } }],
  [{ op: 'add', path: '/spec/containers/9', value: { name: 'n' } }],
  [{ op: 'add', path: '/spec/nothing/here', value: 1 }],
  [{ op: 'remove', path: '/spec/containers/0' }],
  [{ op: 'remove', path: '/spec/nothing' }],
  [{ op: 'replace', path: '/spec/restartPolicy', value: 'Always' }],
  [{ op: 'replace', path: '/spec/nothing', value: 1 }],
  [
    { op: 'test', path: '/metadata/name', value: 'p' },
    { op: 'remove', path: '/metadata/labels' },
  ],
  [{ op: 'test', path: '/metadata/name', value: 'q' }],
  [{ op: 'test', path: '/metadata/missing', value: null }],
  [{ op: 'turn', path: '/metadata/name' }],
  { op: 'remove', path: '/metadata/name' },
];

test('every type of patch gives the same result as kubectl', async () => {
  await expectSameAsKubectl([
    ...strategicPatches.map(([document, patch]) => ({ type: 'strategic' as const, document, patch })),
    ...mergePatches.map((patch) => ({ type: 'merge' as const, document: pod, patch })),
    ...jsonPatches.map((patch) => ({ type: 'json' as const, document: pod, patch })),
  ]);
});

test('random strategic patches give the same result as kubectl', async () => {
  const random = seededRandom(20260105);
  await expectSameAsKubectl(
    Array.from({ length: 60 }, (_, index) => {
      const document = index % 4 === 3 ? node : pod;
      return { type: 'strategic' as const, document, patch: randomPatch(document, '', random) };
    }),
  );
});

async function expectSameAsKubectl(cases: readonly Case[]): Promise<void> {
  const path = await kubectlPath();
  const differences: unknown[] = [];
  const waiting = [...cases];
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const theirs = await patchWithKubectl(path, next);
      const ours = patchWithUs(next);
      const normal = next.type === 'strategic' ? withoutOrder : (value: JsonValue): JsonValue => value;
      if (!isDeepStrictEqual(normal(theirs.result), normal(ours.result))) {
        differences.push({
          type: next.type,
          patch: JSON.stringify(next.patch),
          theirs: show(theirs),
          ours: show(ours),
        });
      }
    }
  };
  await Promise.all([work(), work()]);
  expect(differences).toEqual([]);
}

/** The outcome of a patch. The result is null if the patch was rejected. */
interface Outcome {
  readonly result: JsonValue;
  readonly error: string;
}

function show({ result, error }: Outcome): string {
  return result === null ? `rejected: ${error}` : JSON.stringify(result);
}

function patchWithUs({ type, document, patch }: Case): Outcome {
  const before = JSON.stringify([document, patch]);
  try {
    const result =
      type === 'strategic'
        ? applyStrategicMergePatch(document, patch as JsonObject, `V1${document.kind as string}`)
        : type === 'merge'
          ? applyMergePatch(document, patch)
          : applyJsonPatch(document, patch);
    return { result: withoutNulls(result), error: '' };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    return { result: null, error: error.message };
  } finally {
    expect(JSON.stringify([document, patch]), 'the inputs stay as they were').toBe(before);
  }
}

function patchWithKubectl(path: string, { type, document, patch }: Case): Promise<Outcome> {
  const args = ['patch', '--local', '-f', '-', '--type', type, '-p', JSON.stringify(patch), '-o', 'json'];
  return new Promise((resolve) => {
    const child = execFile(path, args, { env: { KUBECONFIG: '/dev/null' } }, (error, stdout, stderr) => {
      if (error !== null || stdout === '') resolve({ result: null, error: stderr });
      else resolve({ result: withoutNulls(JSON.parse(stdout) as JsonValue), error: '' });
    });
    child.stdin?.end(JSON.stringify(document));
  });
}

/** Sorts lists, because the position of elements that a patch does not order may differ. */
function withoutOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const elements = value.map(withoutOrder);
    return elements.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutOrder(child)]));
}

/** Removes nulls. They mean absent fields, and kubectl --local keeps some that a server would drop. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, child]) => child !== null)
      .map(([key, child]) => [key, withoutNulls(child)]),
  );
}

/** Returns a random patch of some of the document's fields, with nulls, new elements, deletions and orders. */
function randomPatch(value: JsonObject, path: string, random: Random): JsonObject {
  const patch: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    if (path === '' && (key === 'kind' || key === 'apiVersion')) continue;
    const chance = random();
    if (path !== '' && chance < 0.35) continue;
    if (Array.isArray(child)) randomListPatch(patch, key, child, `${path}/${key}`, random);
    else if (typeof child === 'object' && child !== null) patch[key] = randomPatch(child, `${path}/${key}`, random);
    else if (key === 'name' || key === 'uid') continue;
    else if (chance < 0.5) patch[key] = null;
    else patch[key] = typeof child === 'string' ? `${child}-changed` : child;
  }
  return patch;
}

/** Field name of a merged list in the documents above -> its merge key. */
const mergeKeys: ReadonlyMap<string, string> = new Map([
  ['containers', 'name'],
  ['env', 'name'],
  ['ports', 'containerPort'],
  ['volumeMounts', 'mountPath'],
  ['volumes', 'name'],
  ['schedulingGates', 'name'],
  ['conditions', 'type'],
  ['addresses', 'type'],
  ['ownerReferences', 'uid'],
  ['topologySpreadConstraints', 'topologyKey'],
]);

function randomListPatch(patch: JsonObject, key: string, list: JsonValue[], path: string, random: Random): void {
  const mergeKey = mergeKeys.get(key);
  if (mergeKey === undefined) {
    if (key === 'finalizers' && random() < 0.5) patch[`$deleteFromPrimitiveList/${key}`] = [list[0]!];
    else if (random() < 0.5) patch[key] = shuffled(list, random).slice(0, 1);
    return;
  }
  const fresh = mergeKey === 'containerPort' ? 9000 : 'fresh';
  const elements: JsonValue[] = [];
  for (const element of list as JsonObject[]) {
    const chance = random();
    if (chance < 0.4) continue;
    if (chance < 0.6) elements.push({ [mergeKey]: element[mergeKey]!, $patch: 'delete' });
    else elements.push({ ...randomPatch(element, path, random), [mergeKey]: element[mergeKey]! });
  }
  if (random() < 0.5) elements.push({ [mergeKey]: fresh });
  const shuffledElements = shuffled(elements, random);
  patch[key] = shuffledElements;
  if (random() < 0.4) {
    const named = (shuffledElements as JsonObject[]).filter((element) => element.$patch === undefined);
    const order = named.map((element) => ({ [mergeKey]: element[mergeKey]! }));
    const others = (list as JsonObject[])
      .filter((element) => !named.some((candidate) => candidate[mergeKey] === element[mergeKey]))
      .map((element) => ({ [mergeKey]: element[mergeKey]! }));
    for (const other of others) if (random() < 0.5) order.splice(Math.floor(random() * (order.length + 1)), 0, other);
    patch[`$setElementOrder/${key}`] = order;
  }
}

function shuffled<T>(values: readonly T[], random: Random): T[] {
  return values
    .map((value) => ({ value, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ value }) => value);
}
