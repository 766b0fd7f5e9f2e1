/**
 * Measures the processor time that the embedded API server takes for the largest requests that its limits let in, and for some that it
 * rejects: median and maximum over the runs. Each run has a server of its own.
 *
 *     node bench/large-requests.ts [runs]
 */
import process from 'node:process';
import type { TransportRequest } from '../src/client/transport.ts';
import type { JsonObject, JsonValue } from '../src/plane/apiserver/json.ts';
import { ApiClient, clientWithThings, readText } from '../src/plane/apiserver/testing/api-client.ts';
import {
  configMapManifest,
  configMapsPath,
  definitionsPath,
  entries,
  podManifest,
  podsPath,
  thingDefinition,
  thingManifest,
  thingsPath,
} from '../src/plane/apiserver/testing/manifests.ts';
import { median } from './peers/figures.ts';

const runs = Number(process.argv[2] ?? 5);

function list<T extends JsonValue>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const container = (more: JsonObject): JsonObject => ({ name: 'main', image: 'example.test/app:1', ...more });
const pod = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => podManifest('a', spec, metadata);
const inContainer = (more: JsonObject): JsonObject => pod({ containers: [container(more)] });
const label = (index: number): string => `example.test/k${index}`;
const resource = (index: number): string => `example.test/r${index}`;

/** A server, and a request to it. */
type Prepared = readonly [ApiClient, TransportRequest];
type Request = () => Promise<Prepared>;

function requestOf(
  method: TransportRequest['method'],
  path: string,
  type: string,
  object: JsonValue,
): TransportRequest {
  return { method, path, headers: { 'content-type': type }, body: JSON.stringify(object) };
}

const creates =
  (path: string, object: () => JsonObject): Request =>
  () => {
    return Promise.resolve([new ApiClient(), requestOf('POST', path, 'application/json', object())]);
  };

const things =
  (schema: JsonObject, spec: () => JsonValue): Request =>
  async () => {
    const request = requestOf('POST', thingsPath, 'application/json', thingManifest(spec()));
    return [await clientWithThings(schema), request];
  };

const patches =
  (type: 'json' | 'merge', data: JsonObject, patch: () => JsonValue): Request =>
  async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('a', data));
    const mediaType = type === 'json' ? 'application/json-patch+json' : 'application/merge-patch+json';
    return [client, requestOf('PATCH', `${configMapsPath}/a`, mediaType, patch())];
  };

const definition = (schema: JsonObject): Request => creates(definitionsPath, () => thingDefinition({ spec: schema }));

const requests: Readonly<Record<string, Request>> = {
  'a ConfigMap of 49,000 keys': creates(configMapsPath, () => configMapManifest('a', entries(49_000, label, 'v'))),
  'a ConfigMap of 1.5 million characters': creates(configMapsPath, () =>
    configMapManifest('a', { a: 'v'.repeat(1_500_000) }),
  ),
  '49,000 labels of a pod': creates(podsPath, () => pod({}, { labels: entries(49_000, label, 'v') })),
  '49,000 invalid labels of a pod': creates(podsPath, () => pod({}, { labels: entries(49_000, (i) => `!${i}`, 'v') })),
  '49,000 finalizers': creates(podsPath, () => pod({}, { finalizers: list(49_000, label) })),
  '16,000 environment variables': creates(podsPath, () =>
    inContainer({ env: list(16_000, (i) => ({ name: `E${i}`, value: 'v' })) }),
  ),
  '24,000 scheduling gates': creates(podsPath, () =>
    pod({ schedulingGates: list(24_000, (i) => ({ name: label(i) })) }),
  ),
  '12,000 tolerations': creates(podsPath, () =>
    pod({ tolerations: list(12_000, (i) => ({ key: label(i), operator: 'Exists' })) }),
  ),
  '16,000 containers': creates(podsPath, () => pod({ containers: list(16_000, (i) => container({ name: `c${i}` })) })),
  '49,000 requests': creates(podsPath, () =>
    inContainer({ resources: { requests: entries(49_000, resource, '1'), limits: {} } }),
  ),
  '24,000 requests with limits': creates(podsPath, () =>
    inContainer({ resources: { requests: entries(24_000, resource, '1'), limits: entries(24_000, resource, '1') } }),
  ),
  'a quantity of 1.5 million digits': creates(podsPath, () =>
    inContainer({ resources: { requests: { cpu: '1'.repeat(1_500_000) } } }),
  ),
  '49,000 labels in the template of a Job': creates('/apis/batch/v1/namespaces/default/jobs', () => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'a' },
    spec: {
      template: {
        metadata: { labels: entries(49_000, label, 'v') },
        spec: { restartPolicy: 'Never', containers: [container({})] },
      },
    },
  })),
  'a merge patch of 49,000 keys': patches('merge', {}, () => ({ data: entries(49_000, label, 'v') })),
  'a JSON patch of 9,999 additions': patches('json', { b: '' }, () =>
    list(9_999, (i) => ({ op: 'add', path: `/data/k${i}`, value: 'v' })),
  ),
  'a JSON patch of 9,999 removals': patches(
    'json',
    entries(40_000, (i) => `k${i}`, 'v'),
    () => list(9_999, (i) => ({ op: 'remove', path: `/data/k${i}` })),
  ),
  'a CRD of 20,000 properties': definition({
    type: 'object',
    properties: entries(20_000, (i) => `p${i}`, { type: 'string' }),
  }),
  'a CRD of 1,000 defaults': definition({
    type: 'object',
    properties: entries(1_000, (i) => `p${i}`, { type: 'string', default: 'v' }),
  }),
  'a CRD of 10,000 patterns': definition({
    type: 'object',
    properties: Object.fromEntries(
      list(10_000, (i) => `p${i}`).map((p) => [p, { type: 'string', pattern: `^a${p}+$` }]),
    ),
  }),
  'an object of 49,000 values with a schema': things({ type: 'array', items: { type: 'integer' } }, () =>
    list(49_000, (index) => index),
  ),
  'an object of 49,000 invalid values': things({ type: 'array', items: { type: 'integer' } }, () =>
    list(49_000, () => 'x'),
  ),
  'an object of 49,000 unknown fields': things({ type: 'object' }, () => entries(49_000, label, 1)),
  'texts that the pattern ^(a+)+$ matches for long': things(
    { type: 'string', pattern: '^(a+)+$' },
    () => `${'a'.repeat(30_000)}!`,
  ),
  'a body of 3 MiB of nested lists': () => {
    const body = '['.repeat(1_500_000) + ']'.repeat(1_500_000);
    return Promise.resolve([new ApiClient(), { ...requestOf('POST', configMapsPath, 'application/json', {}), body }]);
  },
};

process.stdout.write(`${'ms: median'.padStart(10)} ${'max'.padStart(6)}  status  request\n`);
for (const [what, prepare] of Object.entries(requests)) {
  const taken: number[] = [];
  let status = 0;
  for (let run = 0; run < runs; run++) {
    const [{ server }, request] = await prepare();
    const before = process.cpuUsage();
    const response = await server.handle(request);
    await readText(response.body);
    status = response.status;
    const { user, system } = process.cpuUsage(before);
    taken.push((user + system) / 1_000);
  }
  const [middle, most] = [median(taken), Math.max(...taken)].map((ms) => ms.toFixed(0));
  process.stdout.write(`${middle!.padStart(10)} ${most!.padStart(6)}  ${status}     ${what}\n`);
}
