import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { ApiClient, clientWithThings } from './testing/api-client.ts';
import type { Answer } from './testing/api-client.ts';
import {
  configMapManifest,
  configMapsPath,
  podManifest,
  podsPath,
  thingManifest,
  thingsPath,
} from './testing/manifests.ts';

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < depth; level++) value = { a: value };
  return value;
}

async function expectListed(client: ApiClient, path: string): Promise<void> {
  for (const accept of ['application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io']) {
    expect((await client.get(path, accept)).status).toBe(200);
  }
}

describe('nesting', () => {
  it.each<[string, (client: ApiClient, deep: JsonObject) => Promise<Answer>]>([
    ['in a new object', (client, deep) => client.create(thingsPath, thingManifest(deep, { name: 'b' }))],
    ['in a replacement', (client, deep) => client.replace(`${thingsPath}/a`, thingManifest(deep))],
    ['in a merge patch', (client, deep) => client.patch(`${thingsPath}/a`, 'merge', { spec: deep })],
    [
      'in a JSON patch',
      (client, deep) => client.patch(`${thingsPath}/a`, 'json', [{ op: 'add', path: '/spec', value: deep }]),
    ],
    [
      'in a strategic patch',
      (client, deep) => client.patch('/api/v1/namespaces/default', 'strategic', { metadata: deep }),
    ],
  ])('rejects a value that is nested too deeply %s', async (_where, send) => {
    const client = await clientWithThings(anything);
    await client.mustCreate(thingsPath, thingManifest({}));
    const rejected = await send(client, nested(1_000));
    expect(rejected.status).toBe(400);
    expect(rejected.body.message).toContain('nested more than 256 levels');
    await expectListed(client, thingsPath);
  });

  it('lists, replaces, patches and deletes an object within the limit', async () => {
    const client = await clientWithThings(anything);
    await client.mustCreate(thingsPath, thingManifest(nested(118)));
    await expectListed(client, thingsPath);
    const { body } = await client.get(`${thingsPath}/a`);
    expect((await client.replace(`${thingsPath}/a`, body)).status).toBe(200);
    expect((await client.patch(`${thingsPath}/a`, 'merge', { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await client.delete(`${thingsPath}/a`)).status).toBe(200);
  });
});

describe('warnings', () => {
  it('reach the client if the field names have unusual characters', async () => {
    const client = new ApiClient();
    const names = ['größe', '大小', 'a"b\\c', 'line\nbreak', '\u0000', '\u007f', '\ud800', 'emoji 🎻'];
    const body = { ...configMapManifest('a'), ...Object.fromEntries(names.map((name) => [name, 1])) };
    const { status, headers } = await client.create(configMapsPath, body);
    expect(status).toBe(201);
    expect(headers.warning).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
    expect(Buffer.from(headers.warning!, 'latin1').toString('utf8')).toContain('299 - "unknown field \\"größe\\""');
  });

  it('are truncated to the size of a header', async () => {
    const many = Object.fromEntries(Array.from({ length: 800 }, (_, index) => [`unknown-field-number-${index}`, 1]));
    const { status, headers } = await new ApiClient().create(configMapsPath, { ...configMapManifest('a'), ...many });
    expect(status).toBe(201);
    expect(headers.warning!.length).toBeLessThan(8_000);
    expect(headers.warning).toContain('unknown-field-number-0');
  });
});

describe('validation', () => {
  it('treats names that every JavaScript object inherits like other names', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const quantities = JSON.parse(
        `{"limits":{"${name}":"1"},"requests":{"${name}":"1","valueOf":"1"}}`,
      ) as JsonObject;
      const pod = podManifest('a', { containers: [{ name: 'a', image: 'b', resources: quantities }] });
      const rejected = await new ApiClient().create(podsPath, pod);
      expect(rejected.status, name).toBe(422);
    }
  });

  it.each([
    '2020-01-01T00:00:00+99:99',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-00:01',
    '2020-01-01T24:00:00Z',
  ])('rejects an invalid time: %s', async (time) => {
    const rejected = await new ApiClient().create(
      configMapsPath,
      configMapManifest('a', {}, { creationTimestamp: time }),
    );
    expect(rejected.status).toBe(400);
  });

  it.each([
    '2020-01-01t00:00:00z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999999Z',
    '2020-06-30T23:59:59+05:30',
  ])('stores a time so that the object can be written back: %s', async (time) => {
    const client = new ApiClient();
    const status = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }] };
    await client.mustCreate(podsPath, podManifest('a'));
    const written = await client.patch(`${podsPath}/a/status`, 'merge', { status });
    expect(written.status).toBe(200);
    expect((await client.replace(`${podsPath}/a`, written.body)).status).toBe(200);
  });

  it.each([1e15, 9e15, 9e18])(
    'caps a deletion time at the year 9999 for a grace period of %d seconds',
    async (seconds) => {
      const client = new ApiClient();
      await client.mustCreate('/api/v1/nodes', { metadata: { name: 'n' } });
      await client.mustCreate(podsPath, podManifest('a', { nodeName: 'n', terminationGracePeriodSeconds: seconds }));
      const deleted = await client.delete(`${podsPath}/a`);
      expect(deleted.body.metadata.deletionTimestamp).toBe('9999-12-31T23:59:59Z');
      const put = await client.replace(`${podsPath}/a`, deleted.body);
      expect(put.status).toBe(200);
      expect((await client.delete(`${podsPath}/a`, { gracePeriodSeconds: 1e30 })).status).toBe(400);
      expect((await client.delete(`${podsPath}/a`, { gracePeriodSeconds: 0 })).status).toBe(200);
    },
  );

  it('limits the length of a label prefix', async () => {
    const labels = { [`${'a'.repeat(254)}/b`]: 'c' };
    const rejected = await new ApiClient().create(configMapsPath, configMapManifest('a', {}, { labels }));
    expect(rejected.status).toBe(422);
    expect(rejected.body.message).toContain('prefix part must be no more than 253 characters');
  });
});
