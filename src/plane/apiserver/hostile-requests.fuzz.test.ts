import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../test/expect/cpu-ms.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { ApiClient } from './testing/api-client.ts';
import type { Answer } from './testing/api-client.ts';
import {
  configMapManifest,
  configMapsPath,
  definitionsPath,
  podManifest,
  podsPath,
  thingDefinition,
} from './testing/manifests.ts';

/** What one request may cost, cold and on a slow machine; before its bounds each of these took tens of seconds, or all memory. */
const mostMs = 2_000;
/** What an answer that rejects may come to. */
const mostAnswerBytes = 256 * 1024;

const thingsPath = '/apis/example.test/v1/namespaces/default/things';

function thing(spec: JsonValue, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.test/v1', kind: 'Thing', metadata: { name: 'a', ...metadata }, spec };
}

const anything: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

async function withThings(spec: JsonObject = anything): Promise<ApiClient> {
  const client = new ApiClient();
  await client.mustCreate(definitionsPath, thingDefinition({ spec }));
  return client;
}

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < depth; level++) value = { a: value };
  return value;
}

function items<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** The answer, which came soon and says no more than people read. */
async function soon(send: () => Promise<Answer>): Promise<Answer> {
  let given: Answer | undefined;
  expect(await cpuMsOf(async () => (given = await send()))).toBeLessThan(mostMs);
  expect(given!.status).not.toBe(500);
  if (given!.status >= 400) expect(JSON.stringify(given!.body).length).toBeLessThan(mostAnswerBytes);
  return given!;
}

async function expectListed(client: ApiClient, path: string): Promise<void> {
  for (const accept of ['application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io']) {
    expect((await client.get(path, accept)).status).toBe(200);
  }
}

describe('a JSON patch', () => {
  it('cannot double a document again and again', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('a', { a: 'x'.repeat(1000) }));
    const path = `${configMapsPath}/a`;
    const doubling = items(40, (index) => ({ op: 'copy', from: '/data', path: `/data/more${index}` }));
    const rejected = await soon(() => client.patch(path, 'json', doubling));
    expect(rejected.status).toBe(422);
    expect(rejected.body.message).toMatch(/accumulated size increase of copy is \d+, exceeding the limit 3145728/);
  });

  it('costs what it changes, however large the document is', async () => {
    const client = new ApiClient();
    await client.mustCreate(
      configMapsPath,
      configMapManifest('a', Object.fromEntries(items(20_000, (index) => [`k${index}`, '']))),
    );
    const path = `${configMapsPath}/a`;
    const adding = items(5_000, (index) => ({ op: 'add', path: `/data/new${index}`, value: '' }));
    expect((await soon(() => client.patch(path, 'json', adding))).status).toBe(200);
    const testing = items(5_000, () => ({ op: 'test', path: '/data', value: {} }));
    expect((await soon(() => client.patch(path, 'json', testing))).status).toBe(422);
  });

  it('of more operations than a server takes is rejected', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    const tests = items(10_001, () => ({ op: 'test', path: '/none', value: null }));
    const rejected = await client.patch(`${configMapsPath}/a`, 'json', tests);
    expect(rejected).toMatchObject({ status: 413, body: { reason: 'RequestEntityTooLarge' } });
    expect(rejected.body.message).toContain('10000, got 10001');
  });

  it('does not push a long list about for long', async () => {
    const client = await withThings();
    await client.mustCreate(thingsPath, thing({ list: items(40_000, () => 0) }));
    const pushing = items(10_000, () => ({ op: 'add', path: '/spec/list/0', value: 0 }));
    expect((await soon(() => client.patch(`${thingsPath}/a`, 'json', pushing))).status).toBe(422);
  });

  it('builds nothing that nests without end', async () => {
    const client = await withThings();
    await client.mustCreate(thingsPath, thing({ a: nested(200), b: nested(200) }));
    const into = `/spec/a${'/a'.repeat(199)}/b`;
    const rejected = await soon(() =>
      client.patch(`${thingsPath}/a`, 'json', [{ op: 'move', from: '/spec/b', path: into }]),
    );
    expect(rejected.status).toBe(422);
    expect(rejected.body.message).toContain('nested more than 256 levels');
    await expectListed(client, thingsPath);
  });
});

describe('what nests too deeply', () => {
  it.each<[string, (client: ApiClient, deep: JsonObject) => Promise<Answer>]>([
    ['in a new object', (client, deep) => client.create(thingsPath, thing(deep, { name: 'b' }))],
    ['in a replacement', (client, deep) => client.replace(`${thingsPath}/a`, thing(deep))],
    ['in a merge patch', (client, deep) => client.patch(`${thingsPath}/a`, 'merge', { spec: deep })],
    [
      'in a JSON patch',
      (client, deep) => client.patch(`${thingsPath}/a`, 'json', [{ op: 'add', path: '/spec', value: deep }]),
    ],
    [
      'in a strategic patch',
      (client, deep) => client.patch('/api/v1/namespaces/default', 'strategic', { metadata: deep }),
    ],
    ['in the options of a deletion', (client, deep) => client.delete(`${thingsPath}/a`, { preconditions: deep })],
  ])('%s is rejected', async (_where, send) => {
    const client = await withThings();
    await client.mustCreate(thingsPath, thing({}));
    const rejected = await soon(() => send(client, nested(1_000)));
    expect(rejected.status).toBe(400);
    expect(rejected.body.message).toMatch(/nested more than 256 levels|nesting exceeded/);
    await expectListed(client, thingsPath);
  });

  it('and what is deep and allowed can be listed, watched, changed and put back', async () => {
    const client = await withThings();
    await client.mustCreate(thingsPath, thing(nested(118)));
    await expectListed(client, thingsPath);
    const { body } = await client.get(`${thingsPath}/a`);
    expect((await client.replace(`${thingsPath}/a`, body)).status).toBe(200);
    expect((await client.patch(`${thingsPath}/a`, 'merge', { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await client.delete(`${thingsPath}/a`)).status).toBe(200);
  });
});

describe('a regular expression', () => {
  it.each(['^(a+)+$', '^(a|aa)+$', '(x+x+)+y', '^(.*)(.*)(.*)(.*)(.*)b$'])(
    'of a definition is matched in linear time: %s',
    async (pattern) => {
      const client = await withThings({ type: 'object', properties: { text: { type: 'string', pattern } } });
      for (const text of [`${'a'.repeat(100_000)}!`, 'x'.repeat(100_000)]) {
        expect((await soon(() => client.create(thingsPath, thing({ text })))).status).toBe(422);
      }
    },
  );

  it('that costs too much for a text is not tried, and that is said', async () => {
    const pattern = '^(a?){900}a{900}$';
    const client = await withThings({ type: 'object', properties: { text: { type: 'string', pattern } } });
    const rejected = await soon(() => client.create(thingsPath, thing({ text: 'a'.repeat(2_000_000) })));
    expect(rejected.status).toBe(422);
    expect(rejected.body.message).toContain('too long, or too many, to be matched');
  });

  it.each([
    ['(?=a)', 'invalid or unsupported Perl syntax'],
    ['(a)\\1', 'invalid escape sequence'],
    ['((a{100}){100}){100}', 'invalid repeat count'],
    ['a'.repeat(10_001), 'longer than 10000 characters'],
  ])('that Kubernetes does not take is rejected: %s', async (pattern, why) => {
    const schema = { type: 'object', properties: { text: { type: 'string', pattern } } };
    const rejected = await soon(() => new ApiClient().create(definitionsPath, thingDefinition({ spec: schema })));
    expect(rejected.status).toBe(422);
    expect(rejected.body.message).toContain(why);
  });

  it.each(['duration', 'email', 'hostname', 'byte', 'uri', 'mac', 'date-time', 'cidr', 'uuid', 'date'])(
    'of the format %s is linear',
    async (format) => {
      const client = await withThings({ type: 'object', properties: { text: { type: 'string', format } } });
      for (const text of ['0', '1h', 'a@', 'AAAA', 'a.', 'http://a', '00:', '1.1.1.1/'].map((each) =>
        each.repeat(40_000),
      )) {
        await soon(() => client.create(thingsPath, thing({ text: `${text}!` })));
      }
    },
  );

  it.each([
    ['0', 201],
    ['1h30m', 201],
    ['-1.5h', 201],
    ['.5s', 201],
    ['00', 422],
    ['1', 422],
    ['', 422],
  ])('of durations knows %j', async (text, status) => {
    const client = await withThings({ type: 'object', properties: { text: { type: 'string', format: 'duration' } } });
    expect((await client.create(thingsPath, thing({ text }))).status).toBe(status);
  });

  it('of names and selectors is linear', async () => {
    const client = new ApiClient();
    const long = `${'a.'.repeat(400_000)}!`;
    await soon(() => client.create(podsPath, podManifest(long)));
    for (const key of [`${long}/a`, `${'a'.repeat(800_000)}!/a`, long]) {
      expect(
        (await soon(() => client.create(configMapsPath, configMapManifest('a', {}, { labels: { [key]: '' } })))).status,
      ).toBe(422);
    }
    for (const selector of [
      'a,'.repeat(8_000),
      `${'a'.repeat(16_000)}!`,
      '('.repeat(16_000),
      'a in (b,'.repeat(2_000),
    ]) {
      await soon(() => client.get(`${podsPath}?labelSelector=${encodeURIComponent(selector)}`));
    }
  });

  it('of a column path is linear', async () => {
    const definition = thingDefinition({ spec: anything }) as any;
    for (const jsonPath of [
      `.a[?(@${' '.repeat(500_000)}`,
      `.a[?(@.${'b '.repeat(200_000)}==1`,
      '.a'.repeat(300_000),
    ]) {
      definition.spec.versions[0].additionalPrinterColumns = [{ name: 'A', type: 'string', jsonPath }];
      await soon(() => new ApiClient().create(definitionsPath, definition));
    }
  });
});

describe('warnings', () => {
  it('of fields with any characters reach the client after the write', async () => {
    const client = new ApiClient();
    const names = ['größe', '大小', 'a"b\\c', 'line\nbreak', '\u0000', '\u007f', '\ud800', 'emoji 🎻'];
    const body = { ...configMapManifest('a'), ...Object.fromEntries(names.map((name) => [name, 1])) };
    const { status, headers } = await client.create(configMapsPath, body);
    expect(status).toBe(201);
    expect(headers.warning).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
    expect(Buffer.from(headers.warning!, 'latin1').toString('utf8')).toContain('299 - "unknown field \\"größe\\""');
  });

  it('are no more than fit a header', async () => {
    const many = Object.fromEntries(items(800, (index) => [`unknown-field-number-${index}`, 1]));
    const { status, headers } = await new ApiClient().create(configMapsPath, { ...configMapManifest('a'), ...many });
    expect(status).toBe(201);
    expect(headers.warning!.length).toBeLessThan(8_000);
    expect(headers.warning).toContain('unknown-field-number-0');
  });
});

describe('the answer that rejects', () => {
  const wrong: [string, string, JsonObject, JsonObject | undefined][] = [
    [
      'many wrong labels',
      configMapsPath,
      configMapManifest('a', {}, { labels: Object.fromEntries(items(150_000, (index) => [`$${index}`, '$'])) }),
      undefined,
    ],
    [
      'many unknown fields',
      `${configMapsPath}?fieldValidation=Strict`,
      { ...configMapManifest('a'), ...Object.fromEntries(items(150_000, (index) => [`f${index}`, 1])) },
      undefined,
    ],
    [
      'many fields of a wrong type',
      configMapsPath,
      configMapManifest('a', Object.fromEntries(items(150_000, (index) => [`f${index}`, 1]))),
      undefined,
    ],
    [
      'many wrong elements',
      thingsPath,
      thing({ list: items(400_000, () => 'a') }),
      { type: 'object', properties: { list: { type: 'array', items: { type: 'integer' } } } },
    ],
    [
      'many elements that fit no alternative',
      thingsPath,
      thing({ list: items(9_000, () => 'a') }),
      {
        type: 'object',
        properties: {
          list: {
            type: 'array',
            items: { type: 'string', anyOf: [{ pattern: 'b' }, { pattern: 'c' }, { pattern: 'd' }] },
          },
        },
      },
    ],
    [
      'a large value',
      thingsPath,
      thing({ list: items(200_000, (index) => ({ a: index })) }),
      {
        type: 'object',
        maxProperties: 0,
        properties: { list: { type: 'array', not: { minItems: 1 }, items: anything } },
      },
    ],
    [
      'a long path again and again',
      `${configMapsPath}?fieldValidation=Strict`,
      {
        ...configMapManifest('a'),
        metadata: {
          name: 'a',
          [`x${'y'.repeat(500_000)}`]: Object.fromEntries(items(100_000, (index) => [`f${index}`, 1])),
        },
      },
      undefined,
    ],
    [
      'many containers',
      podsPath,
      podManifest('a', { containers: items(60_000, () => ({ name: '$', image: '' })) }),
      undefined,
    ],
    [
      'many quantities',
      podsPath,
      podManifest('a', {
        containers: [
          {
            name: 'a',
            image: 'b',
            resources: { requests: Object.fromEntries(items(150_000, (index) => [`$${index}`, 'x'])) },
          },
        ],
      }),
      undefined,
    ],
    [
      'many finalizers',
      configMapsPath,
      configMapManifest('a', {}, { finalizers: items(200_000, (index) => `$${index}`) }),
      undefined,
    ],
    [
      'many owners',
      configMapsPath,
      configMapManifest('a', {}, { ownerReferences: items(200_000, () => ({})) }),
      undefined,
    ],
  ];

  it.each(wrong)('of %s is short and soon', async (_what, path, body, schema) => {
    const client = await withThings(schema);
    const rejected = await soon(() => client.create(path, body));
    expect(rejected.status).toBeGreaterThanOrEqual(400);
    expect((rejected.body.details?.causes ?? []).length).toBeLessThanOrEqual(100);
  });

  it('of a patch to a list of very many elements is soon', async () => {
    const client = new ApiClient();
    const names = items(20_000, (index) => ({ name: `s${index}` }));
    await client.mustCreate('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'a' }, secrets: names });
    const path = '/api/v1/namespaces/default/serviceaccounts/a';
    expect((await soon(() => client.patch(path, 'strategic', { secrets: names }))).status).toBe(200);
  });
});

describe('odd names and numbers', () => {
  it('that every object inherits are names like others', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const quantities = JSON.parse(
        `{"limits":{"${name}":"1"},"requests":{"${name}":"1","valueOf":"1"}}`,
      ) as JsonObject;
      const pod = podManifest('a', { containers: [{ name: 'a', image: 'b', resources: quantities }] });
      const rejected = await soon(() => new ApiClient().create(podsPath, pod));
      expect(rejected.status, name).toBe(422);
    }
  });

  it.each([
    '2020-01-01T00:00:00+99:99',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-00:01',
    '2020-01-01T24:00:00Z',
  ])('of a time that is none are rejected: %s', async (time) => {
    const rejected = await soon(() =>
      new ApiClient().create(configMapsPath, configMapManifest('a', {}, { creationTimestamp: time })),
    );
    expect(rejected.status).toBe(400);
  });

  it.each([
    '2020-01-01t00:00:00z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999999Z',
    '2020-06-30T23:59:59+05:30',
  ])('of a time are stored so that they can be put back: %s', async (time) => {
    const client = new ApiClient();
    const status = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }] };
    await client.mustCreate(podsPath, podManifest('a'));
    const written = await client.patch(`${podsPath}/a/status`, 'merge', { status });
    expect(written.status).toBe(200);
    expect((await client.replace(`${podsPath}/a`, written.body)).status).toBe(200);
  });

  it.each([1e15, 9e15, 9e18])('of seconds to wait end at the last year there is: %d', async (seconds) => {
    const client = new ApiClient();
    await client.mustCreate('/api/v1/nodes', { metadata: { name: 'n' } });
    await client.mustCreate(podsPath, podManifest('a', { nodeName: 'n', terminationGracePeriodSeconds: seconds }));
    const deleted = await soon(() => client.delete(`${podsPath}/a`));
    expect(deleted.body.metadata.deletionTimestamp).toBe('9999-12-31T23:59:59Z');
    const put = await client.replace(`${podsPath}/a`, deleted.body);
    expect(put.status).toBe(200);
    expect((await client.delete(`${podsPath}/a`, { gracePeriodSeconds: 1e30 })).status).toBe(400);
    expect((await client.delete(`${podsPath}/a`, { gracePeriodSeconds: 0 })).status).toBe(200);
  });

  it('of labels have a limit before the slash', async () => {
    const labels = { [`${'a'.repeat(254)}/b`]: 'c' };
    const rejected = await new ApiClient().create(configMapsPath, configMapManifest('a', {}, { labels }));
    expect(rejected.status).toBe(422);
    expect(rejected.body.message).toContain('prefix part must be no more than 253 characters');
  });
});

describe('a Job', () => {
  const jobsPath = '/apis/batch/v1/namespaces/default/jobs';
  const jobOf = (spec: JsonObject): JsonObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'a' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } }, ...spec },
  });
  const indexed = { completionMode: 'Indexed', completions: 9 };

  it('of which very much is said that is wrong is rejected soon and shortly', async () => {
    const client = new ApiClient();
    await client.mustCreate(jobsPath, jobOf(indexed));
    for (const status of [{ completedIndexes: '9,'.repeat(500_000) }]) {
      const patched = await soon(() => client.patch(`${jobsPath}/a/status`, 'merge', { status }));
      expect(patched.status).toBe(422);
    }
  });
});
