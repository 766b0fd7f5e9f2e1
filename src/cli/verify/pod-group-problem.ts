import { podGroupResource } from '../../api/pod-group.ts';
import { podGroupDefinition } from '../../api/pod-group-schema.ts';
import { NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';

interface OpenApiSchema {
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind?: string }[];
}

/**
 * What is wrong with the definition of PodGroup in the cluster; undefined: nothing. What it does not know of a status the API
 * server drops without a word, which is so where another program has installed its own.
 */
export async function podGroupProblem(
  client: Pick<KubeClient, 'get'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `/openapi/v3/apis/${podGroupResource.apiVersion}`;
  try {
    const document = await client.get<{ readonly components?: { readonly schemas?: Record<string, OpenApiSchema> } }>(
      path,
      { signal },
    );
    const served = Object.values(document.components?.schemas ?? {}).find((schema) =>
      schema['x-kubernetes-group-version-kind']?.some(({ kind }) => kind === podGroupResource.kind),
    );
    const kept = served?.properties?.status?.properties ?? {};
    const { status } = podGroupDefinition.spec.versions[0].schema.openAPIV3Schema.properties;
    const dropped = Object.keys(status.properties ?? {}).filter((field) => !Object.hasOwn(kept, field));
    if (dropped.length === 0) return undefined;
    return `the definition of PodGroup is not Tutti's and drops status.${dropped.join(', status.')}: apply crds/ over it`;
  } catch (error) {
    if (error instanceof NotFoundError)
      return 'PodGroup is not served: apply crds/, or install the chart with crds.install=true';
    throw error;
  }
}
