import { isDeepStrictEqual } from 'node:util';
import type { LabelSelector } from '../../api/label-selector.ts';
import { podPath } from '../../api/pod-path.ts';
import { messageOf } from '../../base/message-of.ts';
import type { Clock } from '../../base/clock.ts';
import { NotFoundError } from '../../client/api-errors.ts';
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { controllerOf, ownedBy } from './workload.ts';
import type { Workload, WorkloadMetadata, WorkloadPod } from './workload.ts';

/** Maximum number of concurrent calls. */
const concurrency = 32;
/** Maximum number of pods that one reconcile creates or deletes. */
export const maxChanges = 500;

export interface WorkloadActionsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly signal: AbortSignal;
  /** Returns how many more pods the controllers may create. */
  readonly freePods: () => number;
}

/** The simulation has reached its pod limit. The message explains what to do. */
class PodLimitError extends Error {
  override readonly name = 'PodLimitError';
}

/**
 * The reads and writes of a controller during one reconcile. Reads go to the API server, so a controller never acts on a stale cache.
 * Methods reject with the client's errors, except that deleting, patching or writing the status of a missing object is not an error.
 */
export class WorkloadActions {
  readonly #options: WorkloadActionsOptions;

  constructor(options: WorkloadActionsOptions) {
    this.#options = options;
  }

  get nowMs(): number {
    return this.#options.clock.now();
  }

  /** Reads the pods that the workload controls and selects. */
  ownedPods(owner: Workload): Promise<WorkloadPod[]> {
    return this.owned<WorkloadPod>(owner, podsPath(owner.metadata.namespace));
  }

  /** Reads all pods of a namespace. */
  async podsIn(namespace: string): Promise<WorkloadPod[]> {
    const { client, signal } = this.#options;
    return (await client.list(podsPath(namespace), { signal })).items as WorkloadPod[];
  }

  /** Reads the objects of a collection that the workload controls and selects. */
  async owned<T extends { readonly metadata: WorkloadMetadata }>(owner: Workload, path: string): Promise<T[]> {
    const { client, signal } = this.#options;
    const labelSelector = selectorText(owner.spec.selector);
    const { items } = await client.list(path, { signal, ...(labelSelector !== '' && { labelSelector }) });
    return (items as T[]).filter(({ metadata }) => controllerOf(metadata)?.uid === owner.metadata.uid);
  }

  /**
   * Creates pods in batches of 1, 2, 4 and so on, up to 32. Stops after a batch with a failure: the remaining pods would mostly fail in the
   * same way.
   */
  async createPods(owner: Workload, pods: readonly object[]): Promise<void> {
    const wanted = pods.slice(0, maxChanges);
    for (let done = 0, batch = 1; done < wanted.length; done += batch, batch = Math.min(2 * batch, concurrency)) {
      await settleAll(wanted.slice(done, done + batch).map((pod) => this.#createPod(owner, pod)));
    }
  }

  async #createPod(owner: Workload, pod: object): Promise<void> {
    const { client, signal, freePods } = this.#options;
    const { namespace } = owner.metadata;
    const { metadata, ...rest } = pod as { readonly metadata: object };
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, namespace, ownerReferences: ownedBy(owner) },
      ...rest,
    };
    try {
      if (freePods() <= 0) {
        throw new PodLimitError(
          'the simulation has reached its limit of pods, including terminated ones: delete finished Jobs, or set ttlSecondsAfterFinished',
        );
      }
      const created = await client.create<WorkloadPod>(podsPath(namespace), body, { signal });
      this.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    } catch (error) {
      if (!signal.aborted) this.record(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
      throw error;
    }
  }

  async deletePods(owner: Workload, pods: readonly WorkloadPod[]): Promise<void> {
    await this.each(pods.slice(0, maxChanges), async (pod) => {
      if (await this.delete(podPath(pod.metadata), pod.metadata.uid))
        this.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    });
  }

  /** Deletes an object and, in the background, its dependents. Resolves with false if the object no longer exists. */
  delete(path: string, uid: string): Promise<boolean> {
    const { client, signal } = this.#options;
    return ignoreNotFound(client.delete(path, { propagationPolicy: 'Background', preconditions: { uid } }, { signal }));
  }

  create<T>(path: string, body: object): Promise<T> {
    return this.#options.client.create<T>(path, body, { signal: this.#options.signal });
  }

  /** Resolves with false if the object no longer exists. */
  patch(path: string, kind: 'merge' | 'strategic-merge', body: object): Promise<boolean> {
    return ignoreNotFound(this.#options.client.patch(path, kind, body, { signal: this.#options.signal }));
  }

  /** Replaces the status of a workload if it differs. */
  async writeStatus(path: string, owner: Workload, status: object): Promise<void> {
    if (isDeepStrictEqual(sparse(owner.status), sparse(status))) return;
    await ignoreNotFound(
      this.#options.client.replace(`${path}/status`, { ...owner, status }, { signal: this.#options.signal }),
    );
  }

  record(owner: Workload, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const { apiVersion, kind, metadata } = owner;
    const { namespace, name, uid } = metadata;
    const regarding = { apiVersion, kind, namespace, name, uid };
    this.#options.recorder.record({ regarding, type, reason, action: reason, note });
  }

  /** Calls `act` for each item, with limited concurrency. Rejects with the first error after the calls in progress have settled. */
  async each<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
    for (let first = 0; first < items.length; first += concurrency)
      await settleAll(items.slice(first, first + concurrency).map(act));
  }
}

function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
}

async function settleAll(calls: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function ignoreNotFound(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

/** Removes values that servers may add or omit: zeros, empty objects, nulls. */
function sparse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sparse);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, sparse(part)] as const);
  return Object.fromEntries(
    entries.filter(([, part]) => !(part === undefined || part === null || part === 0 || isDeepStrictEqual(part, {}))),
  );
}

/** Formats a selector as the query of a list: `app=web,tier in (a,b),!old`. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const equalities = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...equalities, ...expressions].join(',');
}
