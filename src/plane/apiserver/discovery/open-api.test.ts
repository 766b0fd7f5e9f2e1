import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { definitionsPath, podGroupDefinition } from '../testing/manifests.ts';

async function documentOf(client: ApiClient, path: string): Promise<{ url: string; document: any }> {
  const { paths } = JSON.parse((await client.get('/openapi/v3')).body as string) as { paths: any };
  const url = paths[path].serverRelativeURL as string;
  return { url, document: (await client.get(url)).body };
}

describe('OpenAPI v3', () => {
  it('advertises field validation on PATCH, which kubectl requires to validate', async () => {
    const { document } = await documentOf(new ApiClient(), 'api/v1');
    const { patch } = document.paths['/api/v1/namespaces/{namespace}/pods/{name}'];
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: '', version: 'v1', kind: 'Pod' });
    expect(patch.parameters.map((each: { name: string }) => each.name)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
    ]);
  });

  it('includes the schema of a custom resource, and changes its URL when the schema changes', async () => {
    const client = new ApiClient();
    const definition = podGroupDefinition() as any;
    const created = await client.mustCreate(definitionsPath, definition);
    const first = await documentOf(client, 'apis/scheduling.x-k8s.io/v1alpha1');
    const name = 'scheduling.x-k8s.io.v1alpha1.PodGroup';
    expect(first.document.components.schemas[name].properties.spec.properties.minMember).toEqual({
      type: 'integer',
      minimum: 1,
    });
    definition.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.extra = { type: 'string' };
    definition.metadata.resourceVersion = created.metadata.resourceVersion;
    await client.replace(`${definitionsPath}/podgroups.scheduling.x-k8s.io`, definition);
    const second = await documentOf(client, 'apis/scheduling.x-k8s.io/v1alpha1');
    expect(second.url).not.toBe(first.url);
    expect(second.document.components.schemas[name].properties.spec.properties.extra).toEqual({ type: 'string' });
  });
});
