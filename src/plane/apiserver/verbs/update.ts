import { isDeepStrictEqual } from 'node:util';
import { badRequest, conflict, invalid, modifiedMeanwhile } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, metadataOf, objectAt, textAt } from '../kinds/access.ts';
import { invalidValue } from '../schema/field-error.ts';
import { hasStatusSubresource } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { validateMetadata, validateMetadataUpdate } from '../kinds/validate-metadata.ts';
import { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import { isDone } from './delete.ts';
import { validateContent } from './decode-object.ts';

export interface UpdateOptions {
  readonly dryRun: boolean;
  /** Whether the request writes the status subresource instead of the main resource. */
  readonly status: boolean;
}

/**
 * Replaces a stored object and takes ownership of `sent`. Keeps the fields that the written resource or subresource does not own.
 * A resource version or UID in `sent` must match the stored object. Writes nothing if nothing changes. Throws 400, 409 or 422.
 */
export function updateObject(
  context: ApiContext,
  type: ResourceType,
  previous: StoredObject,
  sent: JsonObject,
  options: UpdateOptions,
): StoredObject {
  checkIdentity(type, previous, ensureObject(sent, 'metadata'));
  const object = options.status ? withStatusOf(type, sent, previous.object) : sent;
  const metadata = metadataOf(object);
  const old = metadataOf(previous.object);
  metadata.resourceVersion = old.resourceVersion!;
  delete metadata.managedFields;
  delete metadata.selfLink;
  setOrDelete(metadata, 'generation', old.generation);

  const { behavior } = type;
  if (!options.status && hasStatusSubresource(type)) setOrDelete(object, 'status', previous.object.status);
  behavior.applyDefaults?.(object);
  if (!options.status) {
    behavior.prepareUpdate?.(object, previous.object);
    raiseGeneration(type, object, previous.object);
  }
  const causes = [
    ...validateMetadata(object, behavior.nameRule ?? 'subdomain'),
    ...validateMetadataUpdate(object, previous.object),
    ...(behavior.validate?.(object, context) ?? []),
    ...((options.status ? undefined : behavior.validateUpdate?.(object, previous.object, context)) ?? []),
  ];
  if (causes.length > 0) throw invalid(type.kind, type.group, previous.name, causes);
  validateContent(type, object, previous.name);
  if (isDeepStrictEqual(object, previous.object)) return previous;
  if (options.dryRun) return new StoredObject(object, previous.resourceVersion);
  const collection = context.store.collection(type.storage);
  if (!isDone(type, object)) return collection.write(object);
  // The update ends the deletion, so it is never stored. Watchers see the previous state.
  collection.remove(previous);
  return new StoredObject(object, previous.resourceVersion);
}

function checkIdentity(type: ResourceType, previous: StoredObject, metadata: JsonObject): void {
  const name = textAt(metadata, 'name');
  if (name !== '' && name !== previous.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${previous.name})`);
  }
  if (name === '') {
    throw badRequest(
      `the name of the object (${previous.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  const namespace = textAt(metadata, 'namespace');
  if (namespace !== '' && namespace !== previous.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (previous.namespace !== '') metadata.namespace = previous.namespace;
  const uid = textAt(metadata, 'uid');
  if (uid !== '' && uid !== previous.uid) {
    throw conflict(
      type,
      previous.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${previous.uid}`,
    );
  }
  const version = textAt(metadata, 'resourceVersion');
  if (version === '' && type.behavior.updateNeedsVersion === true) {
    throw invalid(type.plural, type.group, previous.name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (version !== '' && version !== String(previous.resourceVersion)) throw modifiedMeanwhile(type, previous.name);
}

/** Returns the stored object with the status of `sent`. */
function withStatusOf(type: ResourceType, sent: JsonObject, previous: JsonObject): JsonObject {
  const metadata: JsonObject = { ...metadataOf(previous) };
  if (type.behavior.statusKeepsMetadata === true) {
    for (const field of ['labels', 'annotations']) setOrDelete(metadata, field, objectAt(metadataOf(sent), field));
  }
  const object: JsonObject = { ...previous, metadata };
  setOrDelete(object, 'status', sent.status);
  return object;
}

function raiseGeneration(type: ResourceType, object: JsonObject, previous: JsonObject): void {
  const rule = type.behavior.generation;
  if (rule === undefined) return;
  const changed =
    rule === 'spec'
      ? !isDeepStrictEqual(object.spec, previous.spec)
      : !isDeepStrictEqual(contentOf(type, object), contentOf(type, previous));
  const generation = metadataOf(previous).generation;
  if (changed) metadataOf(object).generation = (typeof generation === 'number' ? generation : 0) + 1;
}

function contentOf(type: ResourceType, object: JsonObject): JsonObject {
  const content = { ...object };
  delete content.metadata;
  delete content.apiVersion;
  if (hasStatusSubresource(type)) delete content.status;
  return content;
}

function setOrDelete(object: JsonObject, field: string, value: JsonObject[string] | undefined): void {
  if (value === undefined) delete object[field];
  else object[field] = value;
}
