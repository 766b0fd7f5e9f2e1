import { ForbiddenError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { releaseLabels } from '../../config/installed-file.ts';
import { listPages } from '../../informer/list-pages.ts';

/** The namespace in which the documentation installs the chart. */
const defaultReleaseNamespace = 'tutti-system';

export interface ReleaseLookup {
  readonly client: Pick<KubeClient, 'list'>;
  /** Namespace of the release. Absent: all, or that of the documentation if the caller may not look everywhere. */
  readonly namespace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lists the objects of one kind that the chart has installed for the scheduler, in any release. `api`: `/api/v1` or `/apis/apps/v1`. Returns
 * undefined if the caller may not list them, or if the namespace does not exist.
 */
export async function releaseObjects<T>(
  { client, namespace, signal }: ReleaseLookup,
  api: string,
  resource: string,
): Promise<readonly T[] | undefined> {
  const labelSelector = Object.entries(releaseLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join();
  const call = { labelSelector, limit: 500, ...(signal !== undefined && { signal }) };
  const places =
    namespace === undefined ? ['', `/namespaces/${defaultReleaseNamespace}`] : [`/namespaces/${namespace}`];
  for (const place of places) {
    const found: T[] = [];
    try {
      await listPages(client, `${api}${place}/${resource}`, call, (items) => {
        found.push(...(items as readonly T[]));
        return true;
      });
      return found;
    } catch (error) {
      if (!(error instanceof ForbiddenError || error instanceof NotFoundError)) throw error;
    }
  }
  return undefined;
}
