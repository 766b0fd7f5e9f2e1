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

/** Calls under way at once. */
const concurrency = 32;
/** Pods that one look at a workload creates or deletes, at most. */
export const mostChanges = 500;

export interface WorkloadActionsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly signal: AbortSignal;
  /** How many more pods the controllers may create. */
  readonly freePods: () => number;
}

/** The pod limit of the simulation is reached. Its text tells users what to do. */
class PodLimitError extends Error {
  override readonly name = 'PodLimitError';
}

/**
 * What a controller reads and writes while it looks at one workload. Reads go to the API server, so a controller never acts on a stale cache. Methods
 * reject with the client's errors, except where an object that was to be deleted is gone.
 */
export class WorkloadActions {
  readonly #options: WorkloadActionsOptions;

  constructor(options: WorkloadActionsOptions) {
    this.#options = options;
  }

  get nowMs(): number {
    return this.#options.clock.now();
  }

  /** The pods that the workload controls and selects, as they are now. */
  ownedPods(owner: Workload): Promise<WorkloadPod[]> {
    return this.owned<WorkloadPod>(owner, podsPath(owner.metadata.namespace));
  }

  /** All pods of a namespace, as they are now. */
  async podsIn(namespace: string): Promise<WorkloadPod[]> {
    const { client, signal } = this.#options;
    return (await client.list(podsPath(namespace), { signal })).items as WorkloadPod[];
  }

  /** The objects of a collection that the workload controls and selects, as they are now. */
  async owned<T extends { readonly metadata: WorkloadMetadata }>(owner: Workload, path: string): Promise<T[]> {
    const { client, signal } = this.#options;
    const labelSelector = selectorText(owner.spec.selector);
    const { items } = await client.list(path, { signal, ...(labelSelector !== '' && { labelSelector }) });
    return (items as T[]).filter(({ metadata }) => controllerOf(metadata)?.uid === owner.metadata.uid);
  }

  /** Creates pods, one at first, then two, then four at once, until one fails: the others would mostly fail alike. */
  async createPods(owner: Workload, pods: readonly object[]): Promise<void> {
    const wanted = pods.slice(0, mostChanges);
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
          'the simulation has reached its limit of pods, ended ones included: delete Jobs that have finished, or set ttlSecondsAfterFinished',
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
    await this.each(pods.slice(0, mostChanges), async (pod) => {
      if (await this.delete(podPath(pod.metadata), pod.metadata.uid))
        this.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    });
  }

  /** Deletes an object and, in the background, what it owns. Resolves with false if it is gone. */
  delete(path: string, uid: string): Promise<boolean> {
    const { client, signal } = this.#options;
    return unlessGone(client.delete(path, { propagationPolicy: 'Background', preconditions: { uid } }, { signal }));
  }

  create<T>(path: string, body: object): Promise<T> {
    return this.#options.client.create<T>(path, body, { signal: this.#options.signal });
  }

  /** Resolves with false if the object is gone. */
  patch(path: string, kind: 'merge' | 'strategic-merge', body: object): Promise<boolean> {
    return unlessGone(this.#options.client.patch(path, kind, body, { signal: this.#options.signal }));
  }

  /** Replaces the status of a workload unless it says the same already. */
  async writeStatus(path: string, owner: Workload, status: object): Promise<void> {
    if (isDeepStrictEqual(sparse(owner.status), sparse(status))) return;
    await unlessGone(
      this.#options.client.replace(`${path}/status`, { ...owner, status }, { signal: this.#options.signal }),
    );
  }

  record(owner: Workload, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const { apiVersion, kind, metadata } = owner;
    const { namespace, name, uid } = metadata;
    const regarding = { apiVersion, kind, namespace, name, uid };
    this.#options.recorder.record({ regarding, type, reason, action: reason, note });
  }

  /** Does something for each of many, a few at a time. Rejects with the first error once those under way have ended. */
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

async function unlessGone(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

/** Without what servers fill in or leave out: zeros, empty objects, nulls. */
function sparse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sparse);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, sparse(part)] as const);
  return Object.fromEntries(
    entries.filter(([, part]) => !(part === undefined || part === null || part === 0 || isDeepStrictEqual(part, {}))),
  );
}

/** A selector as the query of a list: `app=web,tier in (a,b),!old`. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const equalities = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...equalities, ...expressions].join(',');
}
