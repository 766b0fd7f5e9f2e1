import type { PartError } from '../../../api/explain/basis.ts';
import type { PlanResult } from '../../../api/explain/lists.ts';
import { messageOf } from '../../../base/message-of.ts';
import { AlreadyExistsError, ApiError, BadRequestError, NotFoundError } from '../../../client/api-errors.ts';
import type { KubeClient } from '../../../client/kube-client.ts';
import { missingPermission } from '../../../client/missing-permission.ts';
import type { PlannedContainer, PlannedJson, PlannedObject, PlannedSpec } from './planned-object.ts';
import { podsOfObject } from './pods-of-object.ts';
import type { PodSketch } from './pods-of-object.ts';
import { Priorities } from './priorities.ts';

export interface AdmissionOptions {
  readonly client: Pick<KubeClient, 'create' | 'get' | 'list'>;
  readonly signal: AbortSignal;
  /** Send nothing to the API server. */
  readonly isLocal: boolean;
}

/** An object that the cluster would accept. */
export interface AdmittedObject {
  readonly planned: PlannedObject;
  /** With the priority; otherwise as in the file if `admission` is `local`. */
  readonly object: PlannedJson;
  readonly pods: readonly PodSketch[];
}

export interface Admitted {
  readonly objects: readonly AdmittedObject[];
  /** `local` unless the API server has admitted all of them. */
  readonly admission: PlanResult['admission'];
  /** The objects that it rejects, by their titles. */
  readonly rejected: readonly PartError[];
  /** What could not be done otherwise. */
  readonly notes: readonly PartError[];
}

const dryRun = '?dryRun=All&fieldManager=tutti-plan&fieldValidation=Strict';

/** What the caller may not try, or a webhook cannot try. */
class NoDryRunError extends Error {
  override readonly name = 'NoDryRunError';
}

/**
 * Lets the API server check and complete the objects by creating them with dryRun=All, which stores nothing: each object of the file, and then
 * the first pod of each workload. The other pods of the workload are like that one. Where that is not possible, completes them here.
 * Rejects with the client's errors if the API server cannot be reached.
 */
export async function admitObjects(
  planned: readonly PlannedObject[],
  { client, signal, isLocal }: AdmissionOptions,
): Promise<Admitted> {
  const objects: AdmittedObject[] = [];
  const rejected: PartError[] = [];
  const notes: PartError[] = [];
  let priorities: Priorities | undefined;
  /** collection path -> why it takes no dry run */
  const refused = new Map<string, string>();
  const create = async (path: string, object: object): Promise<PlannedJson> => {
    if (isLocal || refused.has(path)) throw new NoDryRunError();
    try {
      return await client.create<PlannedJson>(path + dryRun, object, { signal });
    } catch (error) {
      const why = whyNoDryRun(error);
      if (why === undefined) throw error;
      refused.set(path, why);
      throw new NoDryRunError();
    }
  };
  let isAdmitted = true;
  for (const each of planned) {
    try {
      objects.push(await admitted(each, create));
    } catch (error) {
      // Whether a group that exists may be planned depends on its members.
      const isKnownGroup = each.kind === 'PodGroup' && error instanceof AlreadyExistsError;
      if (error instanceof NoDryRunError || isKnownGroup) {
        isAdmitted &&= isKnownGroup;
        priorities ??= await Priorities.load({ client, signal }, notes);
        try {
          objects.push(completed(each, priorities));
        } catch (problem) {
          rejected.push({ part: each.title, message: messageOf(problem) });
        }
      } else if (error instanceof ApiError) rejected.push({ part: each.title, message: rejectionOf(error, each) });
      else throw error;
    }
  }
  for (const [path, message] of refused) notes.push({ part: `admission of ${path.split('/').at(-1)!}`, message });
  return { objects, admission: isAdmitted ? 'dryRun' : 'local', rejected, notes };
}

async function admitted(
  planned: PlannedObject,
  create: (path: string, object: object) => Promise<PlannedJson>,
): Promise<AdmittedObject> {
  const object = await create(planned.path, planned.object);
  const sketches = podsOfObject(planned, object);
  const [first] = sketches;
  if (planned.kind === 'Pod' || first === undefined) return { planned, object, pods: sketches };
  // The API server would reject the owner, which does not exist, and the name may be that of another pod.
  const { ownerReferences: _, name, ...metadata } = first.metadata;
  const pod = await create(`/api/v1/namespaces/${encodeURIComponent(planned.namespace)}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, ...(planned.kind === 'StatefulSet' ? { name } : { generateName: `${planned.name}-` }) },
    spec: first.spec,
  });
  const { labels, annotations } = pod.metadata;
  return {
    planned,
    object,
    pods: sketches.map((sketch) => ({
      metadata: {
        ...sketch.metadata,
        labels: { ...labels, ...sketch.metadata.labels },
        annotations: { ...annotations, ...sketch.metadata.annotations },
      },
      spec: pod.spec ?? sketch.spec,
    })),
  };
}

/** Completes the object as far as scheduling reads it. */
function completed(planned: PlannedObject, priorities: Priorities): AdmittedObject {
  const { object } = planned;
  if (planned.kind === 'PodGroup') {
    const spec = object.spec ?? {};
    const isNative = object.apiVersion.startsWith('scheduling.k8s.io/');
    return { planned, object: isNative ? { ...object, spec: priorities.resolve(spec) } : object, pods: [] };
  }
  const pods = podsOfObject(planned, object);
  /** The pods of a workload share their spec. */
  const spec = pods[0] && withDefaultRequests(priorities.resolve(pods[0].spec));
  return { planned, object, pods: pods.map(({ metadata }) => ({ metadata, spec: spec! })) };
}

function withDefaultRequests(spec: PlannedSpec): PlannedSpec {
  const complete = (container: PlannedContainer): PlannedContainer => {
    const { requests, limits } = container.resources ?? {};
    return { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
  };
  const { containers = [], initContainers = [] } = spec;
  return { ...spec, containers: containers.map(complete), initContainers: initContainers.map(complete) };
}

/** Returns why the object cannot be tried; undefined: it is the object that was rejected. */
function whyNoDryRun(error: unknown): string | undefined {
  const missing = missingPermission(error);
  if (missing !== undefined)
    return `user "${missing.user}" may not ${missing.verb} ${missing.resource}; the role "edit" in the namespace allows it`;
  const isOfWebhook = error instanceof BadRequestError && /dry.?run/i.test(error.message);
  return isOfWebhook ? error.message : undefined;
}

function rejectionOf(error: ApiError, { kind, name, object }: PlannedObject): string {
  if (error instanceof AlreadyExistsError) return `${name} exists already; delete it first or change its name`;
  const isOfKind = error instanceof NotFoundError && !error.message.includes('"');
  return isOfKind ? `the API server does not serve ${kind} of ${object.apiVersion}` : error.message;
}
