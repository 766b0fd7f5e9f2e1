import { AlreadyExistsError, ApiError, InvalidError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { ManifestError, manifestTitle } from './manifest.ts';
import type { Manifest, ManifestObject } from './manifest.ts';

/** An applied object, as the server returned it. */
export interface AppliedObject {
  readonly kind: string;
  /** Empty for objects without a namespace. */
  readonly namespace: string;
  readonly name: string;
}

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/**
 * Creates the objects one after the other, in order, and patches objects that exist. Sends the JSON unchanged and makes the server reject
 * unknown fields. Rejects with ManifestError for the first object that the server rejects; the objects before it stay.
 */
export async function applyManifests(
  client: KubeClient,
  manifests: readonly Manifest[],
  signal: AbortSignal,
): Promise<readonly AppliedObject[]> {
  /** apiVersion -> resources that the server serves under it */
  const served = new Map<string, readonly Resource[]>();
  const applied: AppliedObject[] = [];
  for (const manifest of manifests) {
    const { object } = manifest;
    try {
      const path = await collectionPath(client, object, served, signal);
      applied.push(await createOrPatch(client, path, object, signal));
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof UnknownKindError)) throw error;
      throw new ManifestError(problemsOf(manifest, error), { cause: error });
    }
  }
  return applied;
}

/** The server does not serve this kind. */
class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError';
}

async function collectionPath(
  client: KubeClient,
  { apiVersion, kind, metadata }: ManifestObject,
  served: Map<string, readonly Resource[]>,
  signal: AbortSignal,
): Promise<string> {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const find = (): Resource | undefined =>
    served.get(apiVersion)?.find((resource) => resource.kind === kind && !resource.name.includes('/'));
  // Discover the resources again for a kind that was missing: an earlier object may have defined it.
  if (find() === undefined) served.set(apiVersion, await resourcesOf(client, base, signal));
  const resource = find();
  if (resource === undefined) {
    throw new UnknownKindError(
      `the embedded control plane does not serve ${kind} of ${apiVersion}: apply its CustomResourceDefinition first, or use a cluster that has it. ` +
        'The embedded control plane runs no operators',
    );
  }
  if (!resource.namespaced) return `${base}/${resource.name}`;
  return `${base}/namespaces/${encodeURIComponent(metadata.namespace ?? 'default')}/${resource.name}`;
}

async function resourcesOf(client: KubeClient, base: string, signal: AbortSignal): Promise<readonly Resource[]> {
  try {
    const list = await client.get<{ readonly resources: readonly Resource[] }>(base, { signal });
    return list.resources;
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

async function createOrPatch(
  client: KubeClient,
  path: string,
  object: ManifestObject,
  signal: AbortSignal,
): Promise<AppliedObject> {
  const options = '?fieldManager=tutti-up&fieldValidation=Strict';
  const { name } = object.metadata;
  const send = async (): Promise<ManifestObject> => {
    try {
      return await client.create<ManifestObject>(path + options, object, { signal });
    } catch (error) {
      if (!(error instanceof AlreadyExistsError) || name === undefined) throw error;
      return client.patch<ManifestObject>(`${path}/${encodeURIComponent(name)}${options}`, 'merge', object, { signal });
    }
  };
  const { kind, metadata } = await send();
  return { kind: kind ?? object.kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}

function problemsOf({ object, where, lineOf }: Manifest, error: ApiError | UnknownKindError): string[] {
  const title = manifestTitle(object);
  const problem = (field: string, message: string): string =>
    `${where}, line ${lineOf(field)}: ${title}: ${field === '' ? '' : `${field}: `}${message}`;
  if (error instanceof UnknownKindError) return [problem('kind', error.message)];
  const causes = error instanceof InvalidError ? error.causes.filter(({ field }) => field !== undefined) : [];
  if (causes.length > 0) return causes.map(({ field, message }) => problem(field!, message ?? 'is not valid'));
  return [problem('', `rejected: ${error.message}`)];
}
