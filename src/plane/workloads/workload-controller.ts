import type { WorkloadActions } from './workload-actions.ts';
import type { Workload, WorkloadMetadata } from './workload.ts';

/** When to look at a workload again although nothing changes. */
export interface LookAgain {
  readonly afterMs: number;
  /** The workload has finished: what remains is to remove it, however far off that is. */
  readonly hasFinished?: boolean;
}

/** What acts on the workloads of one kind. */
export interface WorkloadController {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Named as the source of its Events. */
  readonly reportingController: string;
  /**
   * Level-triggered: compares the workload with what it owns and brings that one step nearer to the spec. The changes that it makes, and those of
   * pods, cause the next look. Rejects with the client's errors; the caller looks again after a back-off.
   */
  reconcile(workload: Workload, path: string, actions: WorkloadActions): Promise<LookAgain | undefined>;
  /** The workload of this name is gone, and may have left something. */
  forget?(namespace: string, name: string, actions: WorkloadActions): Promise<void>;
}

/** The path of all objects of a controller's kind, of one namespace or of all. */
export function collectionPath(
  { apiVersion, plural }: Pick<WorkloadController, 'apiVersion' | 'plural'>,
  namespace?: string,
): string {
  const place = namespace === undefined ? '' : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/apis/${apiVersion}/${place}${plural}`;
}

/** The path of one object of a controller's kind. */
export function objectPath(
  controller: Pick<WorkloadController, 'apiVersion' | 'plural'>,
  { namespace, name }: Pick<WorkloadMetadata, 'namespace' | 'name'>,
): string {
  return `${collectionPath(controller, namespace)}/${encodeURIComponent(name)}`;
}
