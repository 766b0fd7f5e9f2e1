import { describe, expect, it } from 'vitest';
import { ApiClient } from '../../testing/api-client.ts';
import { podGroupDefinition, definitionsPath } from '../../testing/manifests.ts';
import type { JsonObject } from '../../json.ts';

const groupPath = '/apis/scheduling.k8s.io';
const pathOf = (version: string): string => `${groupPath}/${version}/namespaces/default/podgroups`;
const betaPath = pathOf('v1beta1');
const podGroup = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { schedulingPolicy: { gang: { minCount: 2 } }, ...spec },
});

async function versionsOf(client: ApiClient): Promise<string[]> {
  const { body } = await client.get(groupPath);
  return body.versions.map(({ version }: { version: string }) => version);
}

async function problemsOf(client: ApiClient, path: string, spec: JsonObject): Promise<unknown> {
  const { body } = await client.create(path, podGroup('invalid', spec));
  return body.details.causes.map(({ field, message }: Record<string, string>) => `${field}: ${message}`);
}

describe("Kubernetes' own PodGroups", () => {
  it('come before those of a CRD in discovery, from which kubectl chooses', async () => {
    const client = new ApiClient();
    await client.mustCreate(definitionsPath, podGroupDefinition());
    const { groups } = (await client.get('/apis')).body;
    const names = groups.map(({ name }: { name: string }) => name);
    expect(names.indexOf('scheduling.k8s.io')).toBeLessThan(names.indexOf('scheduling.x-k8s.io'));
    expect(await versionsOf(client)).toEqual(['v1', 'v1beta1']);
  });

  it('appear and disappear at run time, and keep their objects', async () => {
    const client = new ApiClient({ nativeGangs: 'none' });
    expect(await versionsOf(client)).toEqual(['v1']);
    for (const path of [betaPath, `${betaPath}?watch=true`, `${betaPath}/a`, `${groupPath}/v1beta1`]) {
      expect((await client.get(path)).status).toBe(404);
    }
    client.server.serveNativeGangs('v1beta1');
    await client.mustCreate(betaPath, podGroup('a'));
    client.server.serveNativeGangs('none');
    expect((await client.get(`${betaPath}/a`)).status).toBe(404);
    client.server.serveNativeGangs('v1beta1');
    expect((await client.get(`${betaPath}/a`)).body.metadata.name).toBe('a');
  });

  it('end their watches, and no others, when they disappear', async () => {
    const client = new ApiClient();
    const watch = await client.watch(`${betaPath}?watch=true`);
    const other = await client.watch('/api/v1/pods?watch=true');
    client.server.serveNativeGangs('none');
    expect(await watch.next()).toBeUndefined();
    expect(client.server.openWatches).toBe(1);
    await other.close();
  });

  it('cannot be watched from before they disappeared', async () => {
    const client = new ApiClient();
    const { metadata } = await client.mustCreate(betaPath, podGroup('a'));
    client.server.serveNativeGangs('none');
    client.server.serveNativeGangs('v1beta1');
    const old = await client.get(`${betaPath}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    expect(old.status).toBe(410);
    const { resourceVersion } = (await client.get(betaPath)).body.metadata;
    await (await client.watch(`${betaPath}?watch=true&resourceVersion=${resourceVersion}`)).close();
  });

  it('have the fields of v1alpha2 there, and objects of its own', async () => {
    const client = new ApiClient();
    await client.mustCreate(betaPath, podGroup('beta'));
    client.server.serveNativeGangs('v1alpha2');
    expect(await versionsOf(client)).toEqual(['v1', 'v1alpha2']);
    const path = pathOf('v1alpha2');
    expect((await client.get(path)).body.items).toEqual([]);
    const { spec } = await client.mustCreate(path, podGroup('alpha'));
    expect(spec).toEqual({ schedulingPolicy: { gang: { minCount: 2 } }, disruptionMode: 'Pod', priority: 0 });
    expect(await problemsOf(client, path, { disruptionMode: 'All' })).toEqual([
      'spec.disruptionMode: Unsupported value: "All": supported values: "Pod", "PodGroup"',
    ]);
    const { status } = await client.patch(`${path}/alpha`, 'merge', podGroup('alpha', { disruptionMode: 'PodGroup' }));
    expect(status).toBe(422);
  });

  it('do not exist in v1alpha1, which has Workloads', async () => {
    const client = new ApiClient({ nativeGangs: 'v1alpha1' });
    const { resources } = (await client.get(`${groupPath}/v1alpha1`)).body;
    expect(resources.map(({ name }: { name: string }) => name)).toEqual(['workloads']);
    expect((await client.get(pathOf('v1alpha1'))).status).toBe(404);
  });
});
