import { describe, expect, it } from 'vitest';
import { ApiClient } from '../../testing/api-client.ts';
import { definitionsPath, podGroupDefinition, podGroupManifest, podGroupsPath } from '../../testing/manifests.ts';

const definitionPath = `${definitionsPath}/podgroups.scheduling.x-k8s.io`;
const path = `${podGroupsPath}/red`;
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

async function withDefinition(): Promise<ApiClient> {
  const client = new ApiClient();
  await client.mustCreate(definitionsPath, podGroupDefinition());
  return client;
}

describe('a CustomResourceDefinition', () => {
  it('is established by the write that stores it', async () => {
    const stored = await new ApiClient().mustCreate(definitionsPath, podGroupDefinition());
    expect(stored.spec.names).toMatchObject({ singular: 'podgroup', listKind: 'PodGroupList' });
    expect(stored.status.storedVersions).toEqual(['v1alpha1']);
    const conditions = stored.status.conditions as { type: string; status: string }[];
    expect(conditions.map((each) => `${each.type}=${each.status}`)).toEqual(['NamesAccepted=True', 'Established=True']);
  });

  it.each<[string, (spec: any, definition: any) => void, string]>([
    ['a name that is not plural.group', (_spec, definition) => (definition.metadata.name = 'a.b.c'), 'metadata.name'],
    ['no storage version', (spec) => (spec.versions[0].storage = false), 'spec.versions'],
    ['no schema', (spec) => delete spec.versions[0].schema, 'spec.versions[0].schema.openAPIV3Schema'],
    ['a conversion webhook', (spec) => (spec.conversion = { strategy: 'Webhook' }), 'spec.conversion.strategy'],
    [
      'a scale subresource',
      (spec) => (spec.versions[0].subresources.scale = {}),
      'spec.versions[0].subresources.scale',
    ],
    [
      'an invalid column path',
      (spec) => (spec.versions[0].additionalPrinterColumns[0].jsonPath = '.a['),
      'spec.versions[0].additionalPrinterColumns[0].jsonPath',
    ],
    [
      'a property without a type',
      (spec) => (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.x = {}),
      'spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.x.type',
    ],
    [
      'a built-in group',
      (spec, definition) => (
        (spec.group = 'scheduling.k8s.io'),
        (definition.metadata.name = 'podgroups.scheduling.k8s.io')
      ),
      'spec.group',
    ],
  ])('is rejected for %s', async (_case, change, field) => {
    const definition = podGroupDefinition() as any;
    change(definition.spec, definition);
    const answer = await new ApiClient().create(definitionsPath, definition);
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes.map((cause: { field: string }) => cause.field)).toContain(field);
  });

  it('cannot change its scope or kind', async () => {
    const client = await withDefinition();
    expect((await client.patch(definitionPath, 'merge', { spec: { scope: 'Cluster' } })).status).toBe(422);
    expect((await client.patch(definitionPath, 'merge', { spec: { names: { kind: 'Gang' } } })).status).toBe(422);
  });

  it('deletes its objects, and waits for objects with finalizers', async () => {
    const client = await withDefinition();
    await client.mustCreate(podGroupsPath, podGroupManifest('red'));
    await client.mustCreate(podGroupsPath, podGroupManifest('blue'));
    await client.patch(path, 'merge', { metadata: { finalizers: ['example.test/hold'] } });
    await client.delete(definitionPath);
    client.clock.advance(0);
    expect((await client.get(podGroupsPath)).body.items).toHaveLength(1);
    expect((await client.create(podGroupsPath, podGroupManifest('green'))).status).toBe(405);
    await client.patch(path, 'merge', { metadata: { finalizers: null } });
    client.clock.advance(0);
    expect((await client.get(podGroupsPath)).status).toBe(404);
    expect((await client.get(definitionPath)).status).toBe(404);
    await client.mustCreate(definitionsPath, podGroupDefinition());
    expect((await client.get(podGroupsPath)).body.items).toEqual([]);
  });
});

describe('a custom resource', () => {
  it('gets a generation, and loses unknown fields', async () => {
    const client = await withDefinition();
    const sent = { ...podGroupManifest('red', { minMember: 2, extra: true }), status: { phase: 'Running' } };
    const answer = await client.create(podGroupsPath, sent);
    expect(answer.body.spec).toEqual({ minMember: 2 });
    expect(answer.body).not.toHaveProperty('status');
    expect(answer.body.metadata.generation).toBe(1);
    expect(answer.headers.warning).toContain('spec.extra');
    const strict = await client.create(`${podGroupsPath}?fieldValidation=Strict`, {
      ...sent,
      metadata: { name: 'blue' },
    });
    expect(strict.status).toBe(400);
    expect(strict.body.message).toContain('strict decoding error: unknown field "spec.extra"');
  });

  it.each([
    [{}, 'spec.minMember', 'FieldValueRequired'],
    [{ minMember: 0 }, 'spec.minMember', 'FieldValueInvalid'],
    [{ minMember: 'two' }, 'spec.minMember', 'FieldValueTypeInvalid'],
  ])('is rejected if it violates the schema: %j', async (spec, field, reason) => {
    const client = await withDefinition();
    const answer = await client.create(podGroupsPath, podGroupManifest('red', spec));
    expect(answer.status).toBe(422);
    expect(answer.body.details).toMatchObject({
      name: 'red',
      group: 'scheduling.x-k8s.io',
      kind: 'PodGroup',
      causes: [{ field, reason }],
    });
    expect(answer.body.message).toContain('PodGroup.scheduling.x-k8s.io "red" is invalid: spec.minMember:');
  });

  it('must have apiVersion and kind', async () => {
    const client = await withDefinition();
    expect((await client.create(podGroupsPath, { metadata: { name: 'red' }, spec: { minMember: 1 } })).status).toBe(
      400,
    );
  });

  it('increases its generation for spec changes only, and separates the status', async () => {
    const client = await withDefinition();
    await client.mustCreate(podGroupsPath, podGroupManifest('red'));
    const labeled = await client.patch(path, 'merge', {
      metadata: { labels: { a: 'b' } },
      status: { phase: 'Failed' },
    });
    expect(labeled.body.metadata.generation).toBe(1);
    expect(labeled.body).not.toHaveProperty('status');
    const status = await client.patch(`${path}/status`, 'merge', {
      metadata: { labels: { c: 'd' } },
      spec: { minMember: 9 },
      status: { phase: 'Running' },
    });
    expect(status.body).toMatchObject({
      spec: { minMember: 2 },
      status: { phase: 'Running' },
      metadata: { generation: 1 },
    });
    expect(status.body.metadata.labels).toEqual({ a: 'b' });
    expect((await client.patch(path, 'merge', { spec: { minMember: 3 } })).body.metadata.generation).toBe(2);
    expect((await client.get(`${path}/status`)).body.status).toEqual({ phase: 'Running' });
  });

  it('has the columns of its CRD', async () => {
    const client = await withDefinition();
    await client.mustCreate(podGroupsPath, podGroupManifest('red'));
    await client.patch(`${path}/status`, 'merge', { status: { phase: 'Running' } });
    client.clock.advance(5 * 60 * 1000);
    const { columnDefinitions, rows } = (await client.get(podGroupsPath, table)).body;
    expect(columnDefinitions.map((each: any) => `${each.name}:${each.type}:${each.priority}`)).toEqual([
      'Name:string:0',
      'MinMember:integer:0',
      'Phase:string:0',
      'Age:date:0',
      'Queue:string:1',
    ]);
    expect(rows[0].cells).toEqual(['red', 2, 'Running', '5m', null]);
  });

  it('is served in each version of its CRD', async () => {
    const client = new ApiClient();
    const definition = podGroupDefinition() as any;
    definition.spec.versions.push({ ...definition.spec.versions[0], name: 'v1', storage: false });
    await client.mustCreate(definitionsPath, definition);
    await client.mustCreate(podGroupsPath, podGroupManifest('red'));
    const v1Path = podGroupsPath.replace('v1alpha1', 'v1');
    const asV1 = (await client.get(`${v1Path}/red`)).body;
    expect(asV1.apiVersion).toBe('scheduling.x-k8s.io/v1');
    expect((await client.replace(`${v1Path}/red`, asV1)).body.metadata.resourceVersion).toBe(
      asV1.metadata.resourceVersion,
    );
    expect((await client.get(path)).body.apiVersion).toBe('scheduling.x-k8s.io/v1alpha1');
  });
});
