import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { toError } from '../../base/to-error.ts';
import { ConflictError, NotFoundError } from '../../client/api-errors.ts';
import { EventRecorder } from '../../client/event-recorder.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { isRetryable } from '../../client/retry.ts';
import type { Transport } from '../../client/transport.ts';
import { WorkQueueMetrics } from '../../controller/work-queue/work-queue-metrics.ts';
import { WorkQueue } from '../../controller/work-queue/work-queue.ts';
import type { Reflector } from '../../informer/reflector.ts';
import { createMetricRegistry } from '../../observability/metric-registry.ts';
import { simulatedReflector } from '../nodes/simulated-reflector.ts';
import type { OnSimulationProblem } from '../nodes/simulation-problem.ts';
import { deploymentController } from './deployment-controller.ts';
import { jobController } from './job-controller.ts';
import { replicaSetController } from './replica-set-controller.ts';
import { statefulSetController } from './stateful-set-controller.ts';
import { WorkloadActions } from './workload-actions.ts';
import { collectionPath, objectPath } from './workload-controller.ts';
import type { WorkloadController } from './workload-controller.ts';
import { controllerOf } from './workload.ts';
import type { Workload, WorkloadMetadata } from './workload.ts';

export interface WorkloadControllersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Used only for the jitter of retries. */
  readonly random: Random;
  /** Maximum number of pods in the control plane, including terminated ones. At the maximum, controllers create no pods. Default: 10,000. */
  readonly maxPods?: number;
  /** Called with each error that is being retried. Default: ignores them. */
  readonly onProblem?: OnSimulationProblem;
}

/** The fields of a watched object that determine which workload to reconcile. */
interface Trigger {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly namespace: string;
  readonly name: string;
  /** Key of the workload that controls the object; undefined if its kind has no controller here. */
  readonly owner: string | undefined;
}

const controllers: readonly WorkloadController[] = [
  jobController,
  deploymentController,
  replicaSetController,
  statefulSetController,
];
/** Kind -> its controller */
const byKind = new Map(controllers.map((controller) => [controller.kind, controller]));

/** Changes of owned objects within this time cause a single reconcile, in milliseconds. */
const settleMs = 100;
const maxTimerMs = 2 ** 31 - 1;

/**
 * Simple controllers for Jobs, Deployments, ReplicaSets and StatefulSets, as ordinary API clients. Watches only determine which workload to
 * reconcile. Each reconcile reads the workload and the objects that it owns from the API server. Only one instance may run per control plane.
 */
export class WorkloadControllers {
  readonly #options: WorkloadControllersOptions;
  readonly #client: KubeClient;
  readonly #pods: Reflector<Trigger>;
  readonly #reflectors: readonly Reflector<Trigger>[];
  /** Kind -> recorder for the Events of its controller */
  readonly #recorders: ReadonlyMap<string, EventRecorder>;
  /** Queue of keys `kind/namespace/name`. */
  readonly #queue: WorkQueue;
  /** Keys of workloads that wait for a back-off or a deadline. */
  readonly #waiting = new Set<string>();
  #reconciling = 0;

  constructor(options: WorkloadControllersOptions) {
    const { transport, clock, random, onProblem } = options;
    this.#options = options;
    this.#client = new KubeClient({ transport, clock, userAgent: 'tutti-workloads' });
    this.#pods = this.#reflect('/api/v1/pods', undefined);
    this.#reflectors = [
      this.#pods,
      ...controllers.map((controller) => this.#reflect(collectionPath(controller), controller.kind)),
    ];
    this.#recorders = new Map(
      controllers.map(({ kind, reportingController }) => [
        kind,
        new EventRecorder({ client: this.#client, clock, reportingController, reportingInstance: 'tutti-workloads' }),
      ]),
    );
    this.#queue = new WorkQueue({
      name: 'workloads',
      clock,
      random,
      workers: 4,
      metrics: new WorkQueueMetrics(createMetricRegistry({ processMetrics: false })),
      process: (key, signal) => this.#process(key, signal),
      backoff: { initialMs: 100, maxMs: 60_000 },
      onRetry: ({ key, error }) => {
        // The workload has changed. The next reconcile uses the new version.
        if (error instanceof ConflictError) return;
        onProblem?.({ message: 'cannot reconcile workload; retrying', subject: key, error: toError(error) });
      },
    });
  }

  /** Resolves when the initial lists are complete. */
  async start(): Promise<void> {
    for (const reflector of this.#reflectors) reflector.start();
    await Promise.all(this.#reflectors.map((reflector) => reflector.synced()));
    this.#queue.start();
  }

  /** Whether a workload will change without outside help, however long that takes. Deleting a finished Job does not count. */
  get areMoving(): boolean {
    return this.#reconciling > 0 || this.#waiting.size > 0;
  }

  /** Resolves when no call is in progress. Objects remain, and another instance can continue. */
  async stop(): Promise<void> {
    await this.#queue.stop();
    for (const recorder of this.#recorders.values()) recorder.stop();
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()));
  }

  #reflect(path: string, kind: string | undefined): Reflector<Trigger> {
    const changed = (trigger: Trigger): void => {
      if (kind !== undefined) this.#queue.add(keyOf(kind, trigger));
      if (trigger.owner !== undefined) this.#queue.add(trigger.owner, settleMs);
    };
    return simulatedReflector<Trigger>(
      { ...this.#options, client: this.#client },
      {
        path,
        project: readTrigger,
        handler: {
          onAdd: changed,
          onUpdate: (previous, trigger) => {
            if (previous.owner !== undefined) this.#queue.add(previous.owner, settleMs);
            changed(trigger);
          },
          onDelete: changed,
        },
      },
    );
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    this.#reconciling++;
    this.#waiting.delete(key);
    try {
      await this.#reconcile(key, signal);
    } catch (error) {
      // Permanent rejections do not count: a retry cannot succeed until something changes.
      if (error instanceof ConflictError || isRetryable(error, true)) this.#waiting.add(key);
      throw error;
    } finally {
      this.#reconciling--;
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const [kind, namespace, name] = key.split('/') as [string, string, string];
    const controller = byKind.get(kind)!;
    const { clock, maxPods = 10_000 } = this.#options;
    let created = 0;
    const actions = new WorkloadActions({
      client: this.#client,
      clock,
      recorder: this.#recorders.get(kind)!,
      signal,
      freePods: () => maxPods - this.#pods.store.size - created++,
    });
    const path = objectPath(controller, { namespace, name });
    const workload = await this.#client.get<Workload>(path, { signal }).catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
    if (workload === undefined) {
      await controller.forget?.(namespace, name, actions);
      return;
    }
    const again = await controller.reconcile(workload, path, actions);
    if (again === undefined) return;
    if (again.hasFinished !== true) this.#waiting.add(key);
    this.#queue.add(key, Math.min(again.afterMs, maxTimerMs));
  }
}

function keyOf(kind: string, { namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${kind}/${namespace}/${name}`;
}

/** Throws TypeError for an object without metadata. */
function readTrigger(raw: unknown): Trigger {
  const { metadata } = raw as { readonly metadata: WorkloadMetadata };
  const { uid, resourceVersion, namespace, name } = metadata;
  const owner = controllerOf(metadata);
  const hasController = owner !== undefined && byKind.get(owner.kind)?.apiVersion === owner.apiVersion;
  return {
    uid,
    resourceVersion,
    namespace,
    name,
    owner: hasController ? keyOf(owner.kind, { namespace, name: owner.name }) : undefined,
  };
}
