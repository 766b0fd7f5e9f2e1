import type { TransportRequest } from '../../../client/transport.ts';
import { deepCopy } from '../deep-equal.ts';
import { ApiError, badRequest, conflict, modifiedMeanwhile, notFound } from '../http/api-error.ts';
import { decodeApplyBody, requireObject } from '../http/decode-body.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, metadataOf, objectAt, textAt } from '../kinds/access.ts';
import { finalizerWarnings } from '../kinds/finalizer-names.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import {
  ApplyConflictError,
  ElementError,
  appliedProblems,
  applyObject,
  compareObjects,
  fieldsOf,
  managerText,
  pathText,
} from '../ownership/index.ts';
import type { Applied, FieldConflict, Writer } from '../ownership/index.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import { createObject } from './create.ts';
import { decodeObject } from './decode-object.ts';
import { writerOf } from './ownership.ts';
import type { PatchResult } from './patch.ts';
import { presentObject } from './present.ts';
import type { ApplyOptions, WriteOptions } from './request-options.ts';
import { updateObject } from './update.ts';

/** kubectl's own name as a manager, and where it keeps what it applied before servers could. */
const kubectl = 'kubectl';
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Server-side apply: makes the object if there is none. Throws 400, 409 (with a cause for each field that somebody else
 * owns) or 422.
 */
export function applyToObject(
  context: ApiContext,
  place: { readonly type: ResourceType; readonly namespace: string | undefined; readonly name: string },
  stored: StoredObject | undefined,
  request: TransportRequest,
  options: WriteOptions & ApplyOptions & { readonly status: boolean },
): PatchResult {
  const { type, namespace, name } = place;
  if (stored === undefined && options.status) throw notFound(type, name);
  const { value, duplicates } = decodeApplyBody(request);
  const applied = requireObject(value);
  checkApplied(type, applied, name, namespace, stored !== undefined);
  checkVersion(type, applied, name, stored);
  const writer = writerOf(context, type, options.fieldManager, options.status);
  refuseProblems(type, applied, name, namespace, writer);
  const live = stored && presentObject(type, stored.object);
  const { object, managedFields } = apply(live, applied, options.force, writer);
  // The result may share structure with the stored object, which nobody may change.
  const decoded = decodeObject(type, deepCopy(object), duplicates, options.fieldValidation, 'apply');
  const ownership = { by: 'apply', managedFields } as const;
  const result =
    stored === undefined
      ? createObject(context, type, namespace, decoded.object, options.dryRun, ownership)
      : updateObject(context, type, stored, decoded.object, { ...options, ownership });
  return {
    stored: result,
    warnings: [...decoded.warnings, ...finalizerWarnings(type, result.object, stored?.object)],
  };
}

function checkApplied(
  type: ResourceType,
  applied: JsonObject,
  name: string,
  namespace: string | undefined,
  exists: boolean,
): void {
  const apiVersion = apiVersionOf(type);
  if (textAt(applied, 'kind') !== type.kind || textAt(applied, 'apiVersion') !== apiVersion) {
    throw badRequest(
      `invalid object type: apiVersion ${JSON.stringify(applied.apiVersion ?? '')}, kind ${JSON.stringify(applied.kind ?? '')}; want apiVersion ${JSON.stringify(apiVersion)}, kind ${JSON.stringify(type.kind)}`,
    );
  }
  if (applied.metadata !== undefined && objectAt(applied, 'metadata') === undefined) {
    throw badRequest('metadata must be an object');
  }
  const metadata = ensureObject(applied, 'metadata');
  if ((metadata.managedFields ?? null) !== null) throw badRequest('metadata.managedFields must be nil');
  const own = textAt(metadata, 'name');
  if (own !== '' && own !== name) {
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  }
  if (own === '' && !exists) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  metadata.name = name;
  const ownNamespace = textAt(metadata, 'namespace');
  if (ownNamespace !== '' && ownNamespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** An apply may say which object, and which version of it, it means. */
function checkVersion(type: ResourceType, applied: JsonObject, name: string, stored: StoredObject | undefined): void {
  const metadata = metadataOf(applied);
  const [uid, version] = [textAt(metadata, 'uid'), textAt(metadata, 'resourceVersion')];
  if (stored === undefined) {
    if (uid === '') return;
    throw conflict(
      type,
      name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  }
  if (version !== '' && version !== String(stored.resourceVersion)) throw modifiedMeanwhile(type, name);
}

function refuseProblems(
  type: ResourceType,
  applied: JsonObject,
  name: string,
  namespace: string | undefined,
  writer: Writer,
): void {
  const problems = appliedProblems(applied, writer.type);
  if (problems.length === 0) return;
  const object = `${namespace ?? ''}/${name}; ${apiVersionOf(type)}, Kind=${type.kind}`;
  const list = problems.length === 1 ? problems[0] : `errors:\n${problems.map((each) => `  ${each}`).join('\n')}`;
  throw badRequest(`failed to create typed patch object (${object}): ${list}`);
}

function apply(live: JsonObject | undefined, applied: JsonObject, force: boolean, writer: Writer): Applied {
  try {
    const result = applyOrTakeOver(live, applied, force, writer);
    return writer.name === kubectl ? withLastApplied(result, applied) : result;
  } catch (error) {
    if (error instanceof ApplyConflictError) throw applyConflict(error.conflicts);
    if (error instanceof ElementError) throw badRequest(`the object that is there cannot be merged: ${error.message}`);
    throw error;
  }
}

/** What kubectl applied before it applied on the server is kubectl's own, whoever the fields belong to by now. */
function applyOrTakeOver(live: JsonObject | undefined, applied: JsonObject, force: boolean, writer: Writer): Applied {
  try {
    return applyObject(live, applied, force, writer);
  } catch (error) {
    if (!(error instanceof ApplyConflictError) || writer.name !== kubectl || live === undefined) throw error;
    const last = readLastApplied(live, writer);
    if (last === undefined) throw error;
    const { added, modified, removed } = compareObjects(last, live, writer.type);
    const unchanged = fieldsOf(last, writer.type).difference(modified).difference(added).difference(removed);
    const others = error.conflicts.filter(({ path }) => !unchanged.contains(path));
    if (others.length > 0) throw new ApplyConflictError(others);
    return applyObject(live, applied, true, writer);
  }
}

/** What the annotation says was applied last; undefined when there is none that can be understood. */
function readLastApplied(live: JsonObject, writer: Writer): JsonObject | undefined {
  const text = textAt(objectAt(metadataOf(live), 'annotations'), lastAppliedAnnotation);
  if (text === '') return undefined;
  try {
    const last = requireObject(JSON.parse(text) as JsonObject);
    const isRight = last.apiVersion === writer.apiVersion && appliedProblems(last, writer.type).length === 0;
    return isRight ? last : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the annotation in step where it is, for kubectl applying without the server again. */
function withLastApplied(result: Applied, applied: JsonObject): Applied {
  const metadata = metadataOf(result.object);
  const annotations = objectAt(metadata, 'annotations');
  if (textAt(annotations, lastAppliedAnnotation) === '') return result;
  const own = deepCopy(applied);
  const ownAnnotations = objectAt(metadataOf(own), 'annotations');
  if (ownAnnotations !== undefined) delete ownAnnotations[lastAppliedAnnotation];
  const kept = { ...annotations, [lastAppliedAnnotation]: `${JSON.stringify(own)}\n` };
  return { ...result, object: { ...result.object, metadata: { ...metadata, annotations: kept } } };
}

function applyConflict(conflicts: readonly FieldConflict[]): ApiError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(manager)}`,
    field: pathText(path),
  }));
  return new ApiError({ code: 409, reason: 'Conflict', message: conflictMessage(conflicts), details: { causes } });
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first!.manager)}: ${pathText(first!.path)}`;
  }
  const lines: string[] = [];
  for (const [text, own] of Map.groupBy(conflicts, ({ manager }) => managerText(manager))) {
    lines.push(`conflicts with ${text}:`, ...own.map(({ path }) => `- ${pathText(path)}`));
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
