import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json.ts';
import { ApiClient } from '../testing/api-client.ts';
import type { Answer } from '../testing/api-client.ts';
import { configMapManifest, configMapsPath, nodeManifest, podManifest, podsPath } from '../testing/manifests.ts';

const path = `${configMapsPath}/settings`;

function apply(client: ApiClient, at: string, body: unknown, query = 'fieldManager=ann'): Promise<Answer> {
  return client.send('PATCH', `${at}?${query}`, body, { 'content-type': 'application/apply-patch+yaml' });
}

function settings(data: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', ...metadata }, data };
}

const managersOf = ({ body }: Answer): string[] =>
  (body.metadata.managedFields ?? []).map(
    (entry: { manager: string; operation: string; subresource?: string; fieldsV1: unknown }) =>
      `${entry.manager} ${entry.operation}${entry.subresource === undefined ? '' : `/${entry.subresource}`} ${JSON.stringify(entry.fieldsV1)}`,
  );

describe('server-side apply', () => {
  it('makes what is not there, of YAML as well', async () => {
    const client = new ApiClient();
    const answer = await apply(
      client,
      path,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: "1"}\n',
    );
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ metadata: { name: 'settings', namespace: 'default' }, data: { a: '1' } });
    expect(managersOf(answer)).toEqual(['ann Apply {"f:data":{"f:a":{}}}']);
  });

  it('takes away what the same manager applies no more, and leaves what others own', async () => {
    const client = new ApiClient();
    await apply(client, path, settings({ a: '1', b: '1' }));
    await apply(client, path, settings({ b: '1', c: '1' }), 'fieldManager=ben');
    const answer = await apply(client, path, settings({}));
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ b: '1', c: '1' });
    expect(managersOf(answer)).toEqual(['ann Apply {"f:data":{}}', 'ben Apply {"f:data":{"f:b":{},"f:c":{}}}']);
  });

  it('refuses to change what others own, with a cause for each field, unless forced', async () => {
    const client = new ApiClient();
    await apply(client, path, settings({ a: '1', b: '1' }));
    await client.send(
      'PATCH',
      `${path}?fieldManager=editor`,
      { data: { c: '1' } },
      {
        'content-type': 'application/merge-patch+json',
      },
    );
    const refused = await apply(client, path, settings({ a: '2', b: '1', c: '2' }), 'fieldManager=ben');
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      reason: 'Conflict',
      message:
        'Apply failed with 2 conflicts: conflicts with "ann":\n- .data.a\nconflicts with "editor" using v1:\n- .data.c',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "ann"', field: '.data.a' },
          { reason: 'FieldManagerConflict', message: 'conflict with "editor" using v1', field: '.data.c' },
        ],
      },
    });
    const forced = await apply(client, path, settings({ a: '2', b: '1', c: '2' }), 'fieldManager=ben&force=true');
    expect(managersOf(forced)).toEqual([
      'ann Apply {"f:data":{"f:b":{}}}',
      'ben Apply {"f:data":{"f:a":{},"f:b":{},"f:c":{}}}',
    ]);
  });

  it('writes nothing, and tells no watcher, when it changes nothing', async () => {
    const client = new ApiClient();
    const first = await apply(client, path, settings({ a: '1' }));
    client.clock.advance(5_000);
    const before = client.server.resourceVersion;
    const second = await apply(client, path, settings({ a: '1' }));
    expect(second.body).toEqual(first.body);
    expect(client.server.resourceVersion).toBe(before);
  });

  it('shows watchers the object and its owners', async () => {
    const client = new ApiClient();
    const watch = await client.watch(`${configMapsPath}?watch=true&resourceVersion=${client.server.resourceVersion}`);
    await apply(client, path, settings({ a: '1' }));
    const dry = await apply(client, path, settings({ a: '2' }), 'fieldManager=ann&dryRun=All');
    expect(dry.body.data).toEqual({ a: '2' });
    await apply(client, path, settings({ a: '3' }));
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { data: { a: '1' } } });
    expect(await watch.next()).toMatchObject({ type: 'MODIFIED', object: { data: { a: '3' } } });
    await watch.close();
  });

  it('is of one version when it names it, and of one object', async () => {
    const client = new ApiClient();
    const { body } = await apply(client, path, settings({ a: '1' }));
    const { resourceVersion, uid } = body.metadata as { resourceVersion: string; uid: string };
    expect((await apply(client, path, settings({ a: '2' }, { resourceVersion, uid }))).status).toBe(200);
    expect((await apply(client, path, settings({ a: '3' }, { resourceVersion }))).status).toBe(409);
    expect((await apply(client, path, settings({ a: '3' }, { uid: 'other' }))).status).toBe(409);
    expect((await apply(client, `${configMapsPath}/none`, settings({}, { name: 'none', uid }))).status).toBe(409);
  });

  it.each<[string, JsonObject | string, RegExp]>([
    ['another kind', { apiVersion: 'v1', kind: 'Secret' }, /want apiVersion "v1", kind "ConfigMap"/],
    ['another version', { apiVersion: 'v2', kind: 'ConfigMap' }, /invalid object type/],
    ['no kind', { apiVersion: 'v1' }, /invalid object type/],
    ['no name', settings({}, { name: '' }), /name must be provided/],
    ['another name', settings({}, { name: 'other' }), /does not match the name on the URL/],
    ['another namespace', settings({}, { namespace: 'kube-system' }), /namespace/],
    ['managed fields', settings({}, { managedFields: [{ manager: 'me' }] }), /metadata\.managedFields must be nil/],
    ['a field that is not there', { ...settings({}), spec: { size: 1 } }, /\.spec: field not declared in schema/],
    ['a list for an object', { ...settings({}), data: [] }, /\.data: expected map/],
    ['no object', '[1]', /must be a JSON object/],
    ['broken YAML', 'a: [', /not valid YAML/],
    [
      'YAML with a number that JSON has not',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {generation: .nan}',
      /not a number that JSON has/,
    ],
    ['objects without end', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, /nested more than 256 levels deep/],
    ['lists without end', `a: ${'['.repeat(20_000)}`, /not valid YAML|nested/],
  ])('refuses %s', async (_what, body, message) => {
    const answer = await apply(new ApiClient(), path, body);
    expect(answer.body.message).toMatch(message);
    expect(answer.status).toBe(400);
  });

  it('needs a manager, and only it may be forced', async () => {
    const client = new ApiClient();
    expect((await apply(client, path, settings({}), '')).body.details.causes).toMatchObject([
      { field: 'fieldManager', reason: 'FieldValueRequired' },
    ]);
    expect((await apply(client, path, settings({}), `fieldManager=${'x'.repeat(129)}`)).status).toBe(422);
    await apply(client, path, settings({}));
    const forced = await client.send(
      'PATCH',
      `${path}?force=true`,
      {},
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(forced.body.details.causes).toMatchObject([{ field: 'force', reason: 'FieldValueForbidden' }]);
  });

  it('tells the elements of a list apart by their keys, defaults included', async () => {
    const client = new ApiClient();
    const pod = (ports: JsonObject[]): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i', ports }] },
    });
    const twice = await apply(
      client,
      `${podsPath}/p`,
      pod([{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP' }]),
    );
    expect(twice).toMatchObject({ status: 400, body: { message: expect.stringMatching(/duplicate entries for key/) } });
    const answer = await apply(
      client,
      `${podsPath}/p`,
      pod([{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }]),
    );
    expect(answer.status).toBe(201);
    expect(managersOf(answer)[0]).toContain('k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}');
  });

  it('puts the elements of such a list in the order in which they are applied, and says when', async () => {
    const client = new ApiClient();
    const at = '/api/v1/namespaces/default/services/web';
    const service = (...ports: string[]): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { ports: ports.map((name) => ({ name, port: name.charCodeAt(0) })) },
    });
    const named = ({ body }: Answer): string[] => body.spec.ports.map(({ name }: { name: string }) => name);
    const first = await apply(client, at, service('a', 'b'));
    const turned = await apply(client, at, service('b', 'a'));
    expect(named(turned)).toEqual(['b', 'a']);
    expect(turned.body.metadata.resourceVersion).not.toBe(first.body.metadata.resourceVersion);
    expect(named(await apply(client, at, service('c', 'a'), 'fieldManager=ben'))).toEqual(['b', 'c', 'a']);
  });

  it('begins with what was there before, for kinds whose owners are not kept from the start', async () => {
    const client = new ApiClient();
    const node = { ...nodeManifest('n'), metadata: { name: 'n', labels: { rack: 'r' } } };
    await client.mustCreate('/api/v1/nodes', node);
    await client.mustCreate(podsPath, podManifest('p'));
    expect((await client.get('/api/v1/nodes/n')).body.metadata).not.toHaveProperty('managedFields');
    expect((await client.get(`${podsPath}/p`)).body.metadata).not.toHaveProperty('managedFields');
    const labelled = { apiVersion: 'v1', kind: 'Node', metadata: { labels: { zone: 'a' } } };
    const applied = await apply(client, '/api/v1/nodes/n', labelled);
    expect(managersOf(applied).map((text) => text.split(' ')[0])).toEqual(['ann', 'before-first-apply']);
    await client.patch('/api/v1/nodes/n', 'merge', { spec: { unschedulable: true } });
    expect(managersOf(await client.get('/api/v1/nodes/n'))).toContainEqual(
      'unknown Update {"f:spec":{"f:unschedulable":{}}}',
    );
  });

  it('owns a status through its subresource alone', async () => {
    const client = new ApiClient();
    const node = (status: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'Node', status });
    await client.mustCreate('/api/v1/nodes', nodeManifest('n'));
    expect((await apply(client, '/api/v1/nodes/none/status', node({ phase: 'x' }))).status).toBe(404);
    const condition = { type: 'Ready', status: 'True' };
    const answer = await apply(client, '/api/v1/nodes/n/status', node({ conditions: [condition] }));
    expect(managersOf(answer)[0]).toBe(
      'ann Apply/status {"f:status":{"f:conditions":{"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:status":{},"f:type":{}}}}}',
    );
  });
});

describe('managed fields', () => {
  const merge = (client: ApiClient, manager: string, patch: JsonObject): Promise<Answer> =>
    client.send('PATCH', `${path}?fieldManager=${manager}`, patch, { 'content-type': 'application/merge-patch+json' });

  it('of what a client sends are taken if they are right, and left alone if not', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('settings', { a: '1' }));
    const own = {
      manager: 'me',
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } },
    };
    expect(managersOf(await merge(client, 'x', { metadata: { managedFields: [own] } }))).toEqual([
      'me Apply {"f:data":{"f:a":{}}}',
    ]);
    const deep: JsonObject = {};
    for (let depth = 0, at = deep; depth < 200; depth++) at = at['f:x'] = {};
    for (const wrong of [
      [{ ...own, operation: 'Steal' }],
      [{ ...own, fieldsV1: { 'k:{': {} } }],
      [{ ...own, fieldsV1: deep }],
    ]) {
      expect(managersOf(await merge(client, 'x', { metadata: { managedFields: wrong } }))).toEqual([
        'me Apply {"f:data":{"f:a":{}}}',
      ]);
    }
    expect((await merge(client, 'x', { metadata: { managedFields: [{}] } })).body.metadata).not.toHaveProperty(
      'managedFields',
    );
  });

  it('of many who update are joined, so that the list does not grow without end', async () => {
    const client = new ApiClient();
    await client.mustCreate(configMapsPath, configMapManifest('settings', { a: '1' }));
    for (let index = 0; index < 30; index++) {
      client.clock.advance(1_000);
      await merge(client, `writer-${index}`, { data: { [`key-${index}`]: '1' } });
    }
    const managers = managersOf(await client.get(path));
    expect(managers).toHaveLength(10);
    expect(managers[0]).toMatch(/^ancient-changes Update .*"f:a"/);
  });

  it('are those of the first word of the User-Agent where a client does not say who it is', async () => {
    const client = new ApiClient();
    const created = await client.send('POST', configMapsPath, configMapManifest('settings', { a: '1' }), {
      'user-agent': 'robot/1.0 (linux)',
    });
    expect(managersOf(created)).toEqual(['robot Update {"f:data":{".":{},"f:a":{}}}']);
  });
});
