import type { TransportRequest } from '../../../client/transport.ts';
import { bodyMediaType, decodeBody, decodeJson, bodyText, requireObject } from '../http/decode-body.ts';
import { unsupportedMediaType } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, metadataOf, textAt, valueAt } from '../kinds/access.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { applyMergePatch } from '../patch/apply-merge-patch.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import { mergePatch } from './patch-media-types.ts';
import { readWriteOptions } from './request-options.ts';
import { updateObject } from './update.ts';

/** Handles a request for the scale of a workload. PUT and PATCH change `spec.replicas`. Throws 400, 409, 413, 415 or 422. */
export function handleScale(
  context: ApiContext,
  type: ResourceType,
  stored: StoredObject,
  request: TransportRequest,
  query: URLSearchParams,
): JsonObject {
  if (request.method === 'GET') return scaleOf(stored.object);
  const { dryRun } = readWriteOptions(query, 'UpdateOptions');
  const sent = request.method === 'PATCH' ? patched(stored, request) : requireObject(decodeBody(request));
  const object = structuredClone(stored.object);
  const version = textAt(ensureObject(sent, 'metadata'), 'resourceVersion');
  metadataOf(object).resourceVersion = version === '' ? String(stored.resourceVersion) : version;
  ensureObject(object, 'spec').replicas = valueAt(sent, 'spec.replicas') ?? 0;
  return scaleOf(updateObject(context, type, stored, object, { dryRun, status: false }).object);
}

function patched(stored: StoredObject, request: TransportRequest): JsonObject {
  if (bodyMediaType(request) !== mergePatch) {
    throw unsupportedMediaType(`a scale can only be patched with ${mergePatch}`);
  }
  return requireObject(applyMergePatch(scaleOf(stored.object), decodeJson(bodyText(request))));
}

function scaleOf(object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object) as Record<string, string>;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as JsonObject,
    spec: { replicas: valueAt(object, 'spec.replicas') ?? 0 },
    status: { replicas: valueAt(object, 'status.replicas') ?? 0 },
  };
}
