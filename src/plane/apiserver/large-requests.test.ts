import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from './json.ts';
import { ApiClient, clientWithThings } from './testing/api-client.ts';
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
} from './testing/manifests.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a request with many problems', () => {
  it('names the first hundred causes and says that there are more', async () => {
    const labels = entries(5_000, (index) => `a${index}!`, 'x');
    const { status, body } = await new ApiClient().create(configMapsPath, configMapManifest('a', {}, { labels }));
    expect(status).toBe(422);
    expect(body.details.causes).toHaveLength(100);
    expect(body.message).toMatch(/, and more\]$/);
  });

  it('names the first hundred values of the wrong type', async () => {
    const nodeSelector = entries(5_000, (index) => `a${index}`, 1);
    const { status, body } = await new ApiClient().create(podsPath, podManifest('a', { nodeSelector }));
    expect(status).toBe(400);
    expect(body.message).toMatch(/, and more$/);
  });

  it('builds the paths of the first hundred unknown fields, because a path can be as long as the body', async () => {
    const client = await clientWithThings({ type: 'object', additionalProperties: { type: 'object', properties: {} } });
    const key = 'k'.repeat(10_000);
    const object = thingManifest({ [key]: entries(1_000, (index) => `a${index}`, 1) });
    const stringify = vi.spyOn(JSON, 'stringify');
    expect((await client.create(thingsPath, object)).status).toBe(201);
    const written = stringify.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
    expect(written).toBeLessThan(200 * key.length);
  });

  it('truncates a path whose keys are long', async () => {
    const client = await clientWithThings({
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    });
    const object = thingManifest({ ['k'.repeat(100_000)]: Array.from({ length: 1_000 }, (_, index) => index) });
    const { status, body } = await client.create(thingsPath, object);
    expect(status).toBe(422);
    expect(body.details.causes).toHaveLength(100);
    expect(JSON.stringify(body).length).toBeLessThan(1_000_000);
  });
});

describe('an object that is too large', () => {
  it('is rejected before the server parses it', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    const { status, body } = await new ApiClient().send('POST', configMapsPath, `[${'0,'.repeat(200_000)}0]`);
    expect(status).toBe(413);
    expect(body.message).toBe('Request entity too large: an object may have at most 50000 values');
    expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([]);
  });

  it('is counted by its values, not by the commas and quotes in its strings', async () => {
    const client = new ApiClient();
    const text = ',[{"\\'.repeat(100_000);
    expect((await client.create(configMapsPath, configMapManifest('a', { text }))).status).toBe(201);
    const data = entries(49_000, (index) => `k${index}`, 'v');
    expect((await client.create(configMapsPath, configMapManifest('b', data))).status).toBe(201);
    expect(
      (await client.create(configMapsPath, configMapManifest('c', { ...data, ...entries(1_001, String, '') }))).status,
    ).toBe(413);
  });

  it.each<[string, (part: number) => JsonObject]>([
    ['values', (part) => entries(30_000, (index) => `${part}-${index}`, 'v')],
    ['characters', (part) => ({ [part]: 'v'.repeat(900_000) })],
  ])('cannot be the result of patches that add %s', async (_what, data) => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    expect((await client.patch(`${configMapsPath}/a`, 'merge', { data: data(1) })).status).toBe(200);
    expect((await client.patch(`${configMapsPath}/a`, 'merge', { data: data(2) })).status).toBe(413);
  });
});

describe('a CustomResourceDefinition', () => {
  it('cannot make the check of an object expensive', async () => {
    const client = await clientWithThings({ type: 'string', pattern: 'a{1,100}$' });
    expect((await client.create(thingsPath, thingManifest('a'.repeat(1_000)))).status).toBe(201);
    const { status, body } = await client.create(thingsPath, thingManifest('a'.repeat(200_000), { name: 'b' }));
    expect(status).toBe(413);
    expect(body.message).toContain('takes more than 500000 steps; use a smaller object or a simpler schema');
  });

  it('has at most 32 versions, and 32 columns in each', async () => {
    const many = <T>(make: (index: number) => T): T[] => Array.from({ length: 33 }, (_, index) => make(index));
    const column = (index: number): JsonObject => ({ name: `c${index}`, type: 'string', jsonPath: '.spec' });
    const columns = thingDefinition({}, { additionalPrinterColumns: many(column) });
    const versions = thingDefinition({});
    const spec = versions.spec as { versions: JsonObject[] };
    spec.versions = many((index) => ({ ...spec.versions[0]!, name: `v${index}`, storage: index === 0 }));
    for (const definition of [columns, versions]) {
      const { status, body } = await new ApiClient().create(definitionsPath, definition);
      expect(status).toBe(422);
      expect(body.message).toContain('Too many: must have at most 32 items');
    }
  });
});

describe('a list of distinct values', () => {
  it('names the first element that occurs twice', async () => {
    const items = { type: 'array', items: { type: 'integer' } };
    const client = await clientWithThings({ type: 'array', 'x-kubernetes-list-type': 'set', items });
    const rejected = await client.create(thingsPath, thingManifest([[1], [2], [1]]));
    expect(rejected.body.details.causes).toEqual([
      { field: 'spec[2]', reason: 'FieldValueDuplicate', message: 'Duplicate value: [1]' },
    ]);
  });

  it('cannot be declared with uniqueItems, which compares each pair of elements', async () => {
    const spec = { type: 'array', uniqueItems: true, items: { type: 'string' } };
    const rejected = await new ApiClient().create(definitionsPath, thingDefinition({ spec }));
    expect(rejected.body.message).toContain('uniqueItems: Forbidden');
  });

  it('is checked without a search of the list for each element', async () => {
    const schedulingGates = Array.from({ length: 2_000 }, (_, index) => ({ name: `a.b/g${index}` }));
    const search = vi.spyOn(Array.prototype, 'indexOf');
    expect((await new ApiClient().create(podsPath, podManifest('a', { schedulingGates }))).status).toBe(201);
    expect(search.mock.contexts.filter((list) => (list as unknown[]).length >= 2_000)).toEqual([]);
  });
});

it('a JSON patch of more than 10,000 operations gets a 413', async () => {
  const client = new ApiClient();
  await client.mustCreate(configMapsPath, configMapManifest('a'));
  const operations = Array.from({ length: 10_001 }, () => ({ op: 'add', path: '/data', value: {} }));
  const { status, body } = await client.patch(`${configMapsPath}/a`, 'json', operations);
  expect(status).toBe(413);
  expect(body.message).toBe(
    'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  );
});
