import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from './json.ts';
import { ApiClient } from './testing/api-client.ts';
import {
  configMapManifest,
  configMapsPath,
  definitionsPath,
  podManifest,
  podsPath,
  thingDefinition,
  thingManifest,
  thingsPath,
} from './testing/manifests.ts';

async function withThings(spec: JsonObject): Promise<ApiClient> {
  const client = new ApiClient();
  await client.mustCreate(definitionsPath, thingDefinition({ spec }));
  return client;
}

function entries(count: number, name: (index: number) => string, value: JsonObject[string]): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), value]));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a request with many problems', () => {
  it('names the first hundred causes and counts the others', async () => {
    const labels = entries(5_000, (index) => `a${index}!`, 'x');
    const { status, body } = await new ApiClient().create(configMapsPath, configMapManifest('a', {}, { labels }));
    expect(status).toBe(422);
    expect(body.details.causes).toHaveLength(100);
    expect(body.message).toMatch(/, and 4900 more\]$/);
  });

  it('names the first hundred values of the wrong type', async () => {
    const nodeSelector = entries(5_000, (index) => `a${index}`, 1);
    const { status, body } = await new ApiClient().create(podsPath, podManifest('a', { nodeSelector }));
    expect(status).toBe(400);
    expect(body.message).toMatch(/, and 4900 more$/);
  });

  it('builds the paths of the first hundred unknown fields, because a path can be as long as the body', async () => {
    const client = await withThings({ type: 'object', additionalProperties: { type: 'object', properties: {} } });
    const key = 'k'.repeat(10_000);
    const object = thingManifest({ [key]: entries(1_000, (index) => `a${index}`, 1) });
    const stringify = vi.spyOn(JSON, 'stringify');
    expect((await client.create(thingsPath, object)).status).toBe(201);
    const written = stringify.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
    expect(written).toBeLessThan(200 * key.length);
  });
});

describe('a list of distinct values', () => {
  it('names the first element that occurs twice', async () => {
    const items = { type: 'array', items: { type: 'integer' } };
    const client = await withThings({ type: 'array', 'x-kubernetes-list-type': 'set', items });
    const rejected = await client.create(thingsPath, thingManifest([[1], [2], [1]]));
    expect(rejected.body.details.causes).toEqual([
      { field: 'spec[2]', reason: 'FieldValueDuplicate', message: 'Duplicate value: [1]' },
    ]);
  });

  it('cannot be declared with uniqueItems, which compares each pair of elements', async () => {
    const spec = { type: 'array', uniqueItems: true, items: { type: 'string' } };
    const rejected = await new ApiClient().create(definitionsPath, thingDefinition({ spec }));
    expect(rejected.body.message).toContain('uniqueItems cannot be set to true');
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
