import type { KubeClient, ListOptions, ListPage } from '../../../client/kube-client.ts';
import { ForbiddenError, NotFoundError } from '../../../client/api-errors.ts';

/** A cluster that can only be listed, in pages of at most the requested size. */
export class ListedCluster implements Pick<KubeClient, 'get' | 'list'> {
  /** API path of a list -> its objects, or the error of the call. Other paths are not served. */
  readonly collections = new Map<string, readonly unknown[] | Error>();
  /** Paths of all calls, in order. */
  readonly calls: string[] = [];

  set(path: string, ...objects: readonly unknown[]): this {
    this.collections.set(path, objects);
    return this;
  }

  /** The API server denies the list. */
  forbid(path: string): this {
    const message = `"podgroups" is forbidden: User "jane" cannot list resource "x" in API group "" at the cluster scope`;
    this.collections.set(
      path,
      new ForbiddenError(message, { status: 403, reason: 'Forbidden', request: path, causes: [] }),
    );
    return this;
  }

  list(path: string, { limit = Infinity, continueToken }: ListOptions = {}): Promise<ListPage> {
    this.calls.push(path);
    const found = this.collections.get(path);
    if (found instanceof Error) return Promise.reject(found);
    if (found === undefined) return Promise.reject(notFound(path));
    const start = Number(continueToken ?? 0);
    const end = start + limit;
    return Promise.resolve({
      items: found.slice(start, end),
      resourceVersion: '1',
      ...(end < found.length && { continueToken: String(end) }),
    });
  }

  /** Discovery of an API version. */
  get<T>(path: string): Promise<T> {
    this.calls.push(path);
    const served = [...this.collections.keys()].filter((each) => each.startsWith(`${path}/`));
    if (served.length === 0) return Promise.reject(notFound(path));
    return Promise.resolve({ resources: served.map((each) => ({ name: each.split('/').at(-1) })) } as T);
  }
}

function notFound(path: string): NotFoundError {
  return new NotFoundError('not found', { status: 404, reason: 'NotFound', request: `GET ${path}`, causes: [] });
}
