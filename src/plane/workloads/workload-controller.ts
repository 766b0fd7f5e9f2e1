import type { WorkloadActions } from './workload-actions.ts';
import type { Workload, WorkloadMetadata } from './workload.ts';

/** When to reconcile a workload again even if nothing changes. */
export interface RequeueAfter {
  readonly afterMs: number;
  /** Whether the workload has finished and only has to be deleted, however late that is. */
  readonly hasFinished?: boolean;
}

/** A controller for workloads of one kind. */
export interface WorkloadController {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Source of its Events. */
  readonly reportingController: string;
  /**
   * Compares the workload with the objects that it owns and moves them one step closer to the spec (level-triggered). Its own changes and
   * changes of pods trigger the next reconcile. Rejects with the client's errors; the caller retries after a back-off.
   */
  reconcile(workload: Workload, path: string, actions: WorkloadActions): Promise<RequeueAfter | undefined>;
  /** Cleans up after a workload that no longer exists. */
  forget?(namespace: string, name: string, actions: WorkloadActions): Promise<void>;
}

/** Returns the path of the objects of a controller's kind, in one namespace or in all. */
export function collectionPath(
  { apiVersion, plural }: Pick<WorkloadController, 'apiVersion' | 'plural'>,
  namespace?: string,
): string {
  const namespacePart = namespace === undefined ? '' : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/apis/${apiVersion}/${namespacePart}${plural}`;
}

/** Returns the path of one object of a controller's kind. */
export function objectPath(
  controller: Pick<WorkloadController, 'apiVersion' | 'plural'>,
  { namespace, name }: Pick<WorkloadMetadata, 'namespace' | 'name'>,
): string {
  return `${collectionPath(controller, namespace)}/${encodeURIComponent(name)}`;
}
