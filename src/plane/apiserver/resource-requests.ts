import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import { badRequest, methodNotAllowed, notFound, notImplemented, notServed, unknownPath } from './http/api-error.ts';
import { decodeBody, requireObject } from './http/decode-body.ts';
import type { ResourceTarget } from './http/request-target.ts';
import { jsonResponse, pageNotFound, textResponse, warningHeaders } from './http/response.ts';
import type { JsonObject } from './json.ts';
import { objectAt, textAt } from './kinds/access.ts';
import { bindPod } from './kinds/pods/bind-pod.ts';
import { markEvicted } from './kinds/pods/mark-evicted.ts';
import { pods } from './kinds/pods/pods.ts';
import { apiVersionOf, hasStatusSubresource } from './kinds/resource-type.ts';
import type { ResourceType } from './kinds/resource-type.ts';
import { newUnsupportedWarnings, resizeWarnings, unsupportedWarnings } from './kinds/unsupported-warnings.ts';
import type { StoredObject } from './store/stored-object.ts';
import type { ApiContext } from './verbs/api-context.ts';
import { createObject } from './verbs/create.ts';
import { decodeObject } from './verbs/decode-object.ts';
import { deleteObject } from './verbs/delete.ts';
import type { Deletion } from './verbs/delete.ts';
import { parseDeleteOptions, readDeleteOptions } from './verbs/delete-options.ts';
import { listObjects } from './verbs/list.ts';
import { patchObject } from './verbs/patch.ts';
import { presentOne, presentText } from './verbs/present.ts';
import { readListOptions, readPresentation, readWriteOptions } from './verbs/request-options.ts';
import { handleScale } from './verbs/scale.ts';
import { updateObject } from './verbs/update.ts';
import { watchObjects } from './verbs/watch.ts';

/** Subresources of pods that need a real container. */
const containerSubresources = new Set([
  'log',
  'exec',
  'attach',
  'portforward',
  'proxy',
  'ephemeralcontainers',
  'resize',
]);

/** A resource request and what its handler needs. */
interface ResourceRequest {
  readonly context: ApiContext;
  readonly request: TransportRequest;
  readonly type: ResourceType;
  readonly target: ResourceTarget;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal | undefined;
}

/** Handles a request for a resource, a collection or a subresource. Throws ApiError. */
export function handleResource(
  context: ApiContext,
  request: TransportRequest,
  target: ResourceTarget,
  query: URLSearchParams,
  signal: AbortSignal | undefined,
): TransportResponse {
  const type = context.registry.find(target.group, target.version, target.plural);
  if (type === undefined) {
    const isKnown = context.registry.serves(target.group, target.version) || isKubernetesGroup(target.group);
    if (!isKnown) return pageNotFound();
    throw notServed(target.plural, apiVersionOf(target));
  }
  if (!type.namespaced && target.namespace !== undefined) throw unknownPath();
  const resource: ResourceRequest = { context, request, type, target, query, signal };
  if (target.name === undefined) return handleCollection(resource);
  if (type.namespaced && target.namespace === undefined) throw unknownPath();
  if (target.subresource !== undefined) return handleSubresource(resource, target.name, target.subresource);
  return handleObject(resource, target.name, false);
}

/** Whether every Kubernetes cluster has the group, or may have it. */
function isKubernetesGroup(group: string): boolean {
  return group !== '' && (group.endsWith('.k8s.io') || !group.includes('.'));
}

function handleCollection(resource: ResourceRequest): TransportResponse {
  const { context, request, type, target, query, signal } = resource;
  switch (request.method) {
    case 'GET': {
      const options = readListOptions(query);
      const presentation = readPresentation(request.headers.accept, query);
      if (options.watch) return watchObjects(context, type, target.namespace, options, presentation, signal);
      return listObjects(context, type, target.namespace, options, presentation);
    }
    case 'POST':
      return create(resource);
    case 'DELETE':
      throw methodNotAllowed('this API server does not delete collections: delete each object by its name');
    case 'PUT':
    case 'PATCH':
      throw methodNotAllowed();
  }
}

function handleObject(resource: ResourceRequest, name: string, status: boolean): TransportResponse {
  const { context, request, type, query } = resource;
  switch (request.method) {
    case 'GET': {
      const presentation = readPresentation(request.headers.accept, query);
      return textResponse(
        presentOne(type, existing(resource, name), presentation, context.nowMs()),
        'application/json',
      );
    }
    case 'PUT':
      return update(resource, name, status);
    case 'PATCH': {
      const options = { ...readWriteOptions(query, 'PatchOptions'), status };
      const stored = find(resource, name);
      const patched = patchObject(context, type, stored, name, request, options);
      const unsupported = newUnsupportedWarnings(type, patched.stored.object, stored!.object);
      return written(type, patched.stored, 200, [...patched.warnings, ...unsupported]);
    }
    case 'DELETE': {
      if (status) throw methodNotAllowed();
      const options = readDeleteOptions(request, query);
      return deleted(type, deleteObject(context, type, existing(resource, name), options));
    }
    case 'POST':
      throw methodNotAllowed();
  }
}

function find({ context, type, target }: ResourceRequest, name: string): StoredObject | undefined {
  return context.store.collection(type.storage).get(target.namespace ?? '', name);
}

function existing(resource: ResourceRequest, name: string): StoredObject {
  const stored = find(resource, name);
  if (stored === undefined) throw notFound(resource.type, name);
  return stored;
}

function handleSubresource(resource: ResourceRequest, name: string, subresource: string): TransportResponse {
  const { context, request, type, query } = resource;
  if (subresource === 'status' && hasStatusSubresource(type)) return handleObject(resource, name, true);
  if (subresource === 'status' && type.content.type === 'structural') throw notFound(type, name);
  if (subresource === 'scale' && type.subresources.some((each) => each.name === 'scale')) {
    if (request.method === 'POST' || request.method === 'DELETE') throw methodNotAllowed();
    return jsonResponse(handleScale(context, type, existing(resource, name), request, query));
  }
  if (type.storage === 'serviceaccounts' && subresource === 'token') {
    throw notServed('serviceaccounts/token', apiVersionOf(type));
  }
  if (type !== pods) throw unknownPath();
  if (containerSubresources.has(subresource)) {
    throw notImplemented(
      `pods/${subresource} is not available: the pods of this API server are simulated and have no containers behind them`,
    );
  }
  if (subresource !== 'binding' && subresource !== 'eviction') throw unknownPath();
  if (request.method !== 'POST') throw methodNotAllowed();
  return subresource === 'binding' ? bind(resource, name) : evict(resource, name);
}

function create(resource: ResourceRequest): TransportResponse {
  const { context, request, type, target, query } = resource;
  const options = readWriteOptions(query, 'CreateOptions');
  const { object, warnings } = decodeObject(type, requireObject(decodeBody(request)), options.fieldValidation);
  const created = createObject(context, type, target.namespace, object, options.dryRun);
  return written(type, created, 201, [...warnings, ...unsupportedWarnings(type, created.object)]);
}

function update(resource: ResourceRequest, name: string, status: boolean): TransportResponse {
  const { context, request, type, query } = resource;
  const options = readWriteOptions(query, 'UpdateOptions');
  const { object, warnings } = decodeObject(type, requireObject(decodeBody(request)), options.fieldValidation);
  const stored = existing(resource, name);
  const resized = status ? [] : resizeWarnings(type, object, stored.object);
  const updated = updateObject(context, type, stored, object, { ...options, status });
  const unsupported = newUnsupportedWarnings(type, updated.object, stored.object);
  return written(type, updated, 200, [...warnings, ...resized, ...unsupported]);
}

function written(
  type: ResourceType,
  stored: StoredObject,
  status: number,
  warnings: readonly string[],
): TransportResponse {
  return textResponse(presentText(type, stored), 'application/json', { status, headers: warningHeaders(warnings) });
}

function deleted(type: ResourceType, deletion: Deletion): TransportResponse {
  if (!deletion.gone || type.behavior.returnsDeleted === true) {
    return textResponse(presentText(type, deletion.object), 'application/json');
  }
  return jsonResponse({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: deletion.object.name,
      ...(type.group !== '' && { group: type.group }),
      kind: type.plural,
      uid: deletion.object.uid,
    },
  });
}

function bind({ context, request, target, query }: ResourceRequest, name: string): TransportResponse {
  const options = readWriteOptions(query, 'CreateOptions');
  const binding = readSubresourceBody(request, 'Binding', 'v1');
  bindPod(binding, target.namespace!, name, options.dryRun, context);
  return jsonResponse(createdStatus, { status: 201 });
}

/** Evicts a pod: marks it and deletes it gracefully. Evictions do not check PodDisruptionBudgets. */
function evict(resource: ResourceRequest, name: string): TransportResponse {
  const { context, request, type, query } = resource;
  const eviction = readSubresourceBody(request, 'Eviction', 'policy/v1');
  const named = textAt(objectAt(eviction, 'metadata'), 'name');
  if (named !== '' && named !== name) throw badRequest('name in URL does not match name in Eviction object');
  const stored = existing(resource, name);
  const options = parseDeleteOptions(objectAt(eviction, 'deleteOptions') ?? {}, query);
  const evicted = options.dryRun ? stored : markEvicted(context, stored);
  deleteObject(context, type, evicted, options);
  return jsonResponse(createdStatus, { status: 201 });
}

const createdStatus: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

function readSubresourceBody(request: TransportRequest, kind: string, apiVersion: string): JsonObject {
  const body = requireObject(decodeBody(request));
  if ((body.kind ?? kind) !== kind || (body.apiVersion ?? apiVersion) !== apiVersion) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): apiVersion ${JSON.stringify(body.apiVersion)}, kind ${JSON.stringify(body.kind)}; want apiVersion ${JSON.stringify(apiVersion)}`,
    );
  }
  return body;
}
