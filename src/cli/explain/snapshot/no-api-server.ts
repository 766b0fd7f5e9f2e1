import { NotFoundError } from '../../../client/api-errors.ts';
import type { KubeClient } from '../../../client/kube-client.ts';

/** Stands for the API server of a snapshot: it serves no kind. */
export const noApiServer: Pick<KubeClient, 'create' | 'get' | 'list'> = {
  create: (path: string) => Promise.reject(notServed(path)),
  get: (path: string) => Promise.reject(notServed(path)),
  list: (path: string) => Promise.reject(notServed(path)),
};

function notServed(request: string): NotFoundError {
  return new NotFoundError('a snapshot serves no requests', { status: 404, reason: 'NotFound', request, causes: [] });
}
