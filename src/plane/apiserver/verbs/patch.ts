import type { TransportRequest } from '../../../client/transport.ts';
import { ApiError, badRequest, invalid, notFound, requestTooLarge, unsupportedMediaType } from '../http/api-error.ts';
import { bodyMediaType, bodyText, decodeJson, requireObject } from '../http/decode-body.ts';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { invalidValue } from '../schema/field-error.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { resizeWarnings } from '../kinds/unsupported-warnings.ts';
import { applyJsonPatch } from '../patch/apply-json-patch.ts';
import { applyMergePatch } from '../patch/apply-merge-patch.ts';
import { applyStrategicMergePatch } from '../patch/apply-strategic-merge-patch.ts';
import { PatchError } from '../patch/patch-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import { decodeObject } from './decode-object.ts';
import { applyPatch, jsonPatch, patchMediaTypes, strategicMergePatch } from './patch-media-types.ts';
import { presentObject } from './present.ts';
import type { WriteOptions } from './request-options.ts';
import { updateObject } from './update.ts';

export interface PatchResult {
  readonly stored: StoredObject;
  readonly warnings: readonly string[];
}

/** Patches a stored object. Throws 400, 404, 409, 413, 415 or 422. */
export function patchObject(
  context: ApiContext,
  type: ResourceType,
  stored: StoredObject | undefined,
  name: string,
  request: TransportRequest,
  options: WriteOptions & { readonly status: boolean },
): PatchResult {
  const mediaType = bodyMediaType(request);
  rejectUnknownFormat(mediaType, type);
  const patch = decodeJson(bodyText(request));
  if (stored === undefined) throw notFound(type, name);
  const before = presentObject(type, stored.object);
  const patched = requireObject(applyPatchOf(mediaType, type, before, patch));
  if (!isObject(patched.metadata)) throw badRequest('the patch leaves the object without metadata');
  const { uid } = patched.metadata;
  if (uid !== undefined && uid !== stored.uid) {
    throw invalid(type.kind, type.group, name, [invalidValue('metadata.uid', uid, 'field is immutable')]);
  }
  // The result may share structure with the stored object, which must not change.
  const decoded = decodeObject(type, structuredClone(patched), options.fieldValidation, 'patch');
  const resized = options.status ? [] : resizeWarnings(type, decoded.object, stored.object);
  const updated = updateObject(context, type, stored, decoded.object, options);
  return { stored: updated, warnings: [...decoded.warnings, ...resized] };
}

function rejectUnknownFormat(mediaType: string, type: ResourceType): void {
  const supported = patchMediaTypes(type);
  if (supported.includes(mediaType)) return;
  const list = `accepted media types include: ${supported.join(', ')}`;
  throw unsupportedMediaType(
    mediaType === applyPatch
      ? `this API server does not support server-side apply: use client-side apply, which is kubectl apply without --server-side - ${list}`
      : `the body of the request was in an unknown format - ${list}`,
  );
}

function applyPatchOf(mediaType: string, type: ResourceType, before: JsonObject, patch: JsonValue): JsonValue {
  try {
    if (mediaType === jsonPatch) return applyJsonPatch(before, patch);
    const object = requireObject(patch);
    if (mediaType === strategicMergePatch && type.content.type === 'model') {
      return applyStrategicMergePatch(before, object, type.content.model);
    }
    return applyMergePatch(before, object);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw patchRejected(error);
  }
}

const serverRejected = 'the server rejected our request due to an error in our request';

function patchRejected(error: PatchError): ApiError {
  switch (error.kind) {
    case 'malformed':
      return badRequest(`error decoding patch: ${error.message}`);
    case 'tooLarge':
      return requestTooLarge(error.message);
    case 'testFailed':
    case 'unprocessable':
      // With details, kubectl would not show the message.
      return new ApiError(422, 'Invalid', `${serverRejected}: ${error.message}`, {});
  }
}
