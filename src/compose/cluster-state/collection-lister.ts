import type { PartError } from '../../api/explain/basis.ts';
import { messageOf } from '../../base/message-of.ts';
import { ForbiddenError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient, ListOptions } from '../../client/kube-client.ts';
import { listPages } from '../../informer/list-pages.ts';
import { grantingRole } from './granting-role.ts';
import { HiddenClusterError } from './hidden-cluster-error.ts';

/** `absent`: the API server does not serve the kind. */
export type ListOutcome = 'listed' | 'absent' | 'forbidden';

export interface CollectionListerOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly signal?: AbortSignal | undefined;
}

/** Restrictions of a list. */
export type CollectionSelection = Pick<ListOptions, 'labelSelector' | 'metadataOnly'>;

interface ResourceList {
  readonly resources: readonly { readonly name: string }[];
}

const pageSize = 500;

/** Lists collections of one cluster page by page, and adds what is wrong with them to a list of errors. */
export class CollectionLister {
  readonly #options: CollectionListerOptions;
  readonly #errors: PartError[];

  constructor(options: CollectionListerOptions, errors: PartError[]) {
    this.#options = options;
    this.#errors = errors;
  }

  /** Passes each object of the collection to `add`. An object for which `add` throws is left out. */
  async fill(path: string, add: (raw: unknown) => void, selection: CollectionSelection = {}): Promise<ListOutcome> {
    try {
      await this.#list(path, add, selection);
      return 'listed';
    } catch (error) {
      if (error instanceof NotFoundError) return 'absent';
      if (!(error instanceof ForbiddenError)) throw error;
      if (!(await this.#isServed(path))) return 'absent';
      this.#errors.push({ part: partOf(path), message: `${error.message}; ${grantingRole(path)}` });
      return 'forbidden';
    }
  }

  /** Does the same with the first collection that the server serves. */
  async fillFirst(
    paths: readonly string[],
    add: (raw: unknown) => void,
    selection?: CollectionSelection,
  ): Promise<ListOutcome> {
    for (const path of paths) {
      const outcome = await this.fill(path, add, selection);
      if (outcome !== 'absent') return outcome;
    }
    return 'absent';
  }

  /** Like `fill`, for a collection without which there is no answer. Rejects with HiddenClusterError. */
  async fillVisible(what: string, path: string, add: (raw: unknown) => void): Promise<void> {
    try {
      await this.#list(path, add);
    } catch (error) {
      throw error instanceof ForbiddenError ? new HiddenClusterError(what, error) : error;
    }
  }

  /** The API server also denies what it does not serve. */
  async #isServed(path: string): Promise<boolean> {
    const [, root, group, version] = path.split('/');
    if (root !== 'apis') return true;
    const { client, signal } = this.#options;
    try {
      const call = signal === undefined ? {} : { signal };
      const { resources } = await client.get<ResourceList>(`/apis/${group}/${version}`, call);
      return resources.some(({ name }) => name === path.split('/').at(-1));
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      if (error instanceof ForbiddenError) return true;
      throw error;
    }
  }

  async #list(path: string, add: (raw: unknown) => void, selection: CollectionSelection = {}): Promise<void> {
    const { client, signal } = this.#options;
    const call = { ...selection, limit: pageSize, ...(signal !== undefined && { signal }) };
    await listPages(client, path, call, (items) => {
      for (const raw of items) {
        try {
          add(raw);
        } catch (error) {
          this.#errors.push({ part: partOf(path), message: `left out: ${messageOf(error)}` });
        }
      }
      return true;
    });
  }
}

/** Returns the resource with its API group: `nodes`, `podgroups.scheduling.k8s.io`. */
function partOf(path: string): string {
  const [, root, group = ''] = path.split('/');
  const resource = path.split('/').at(-1)!;
  return root === 'apis' ? `${resource}.${group}` : resource;
}
