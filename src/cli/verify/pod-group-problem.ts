import { podGroupResource } from '../../api/pod-group.ts';
import { podGroupDefinition } from '../../api/pod-group-schema.ts';
import { NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';

interface OpenApiSchema {
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind?: string }[];
}

/**
 * Returns what is wrong with the PodGroup CRD in the cluster, or undefined if it is compatible. The API server silently drops status
 * fields that the CRD lacks, which happens if another project has installed its own CRD, or an older version of Tutti.
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
    return `the PodGroup CRD is outdated or not Tutti's, and drops status.${dropped.join(', status.')}: apply crds/ over it`;
  } catch (error) {
    if (error instanceof NotFoundError)
      return 'the API server does not serve PodGroup: apply crds/, or install the chart with crds.install=true';
    throw error;
  }
}
