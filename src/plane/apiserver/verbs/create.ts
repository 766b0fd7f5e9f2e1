import { alreadyExists, badRequest, forbidden, invalid, methodNotAllowed, notFound } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { ensureObject, metadataOf, textAt } from '../kinds/access.ts';
import { hasStatusSubresource } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { missingName, validateMetadata } from '../kinds/validate-metadata.ts';
import { StoredObject } from '../store/stored-object.ts';
import type { ApiContext } from './api-context.ts';
import { validateContent } from './decode-object.ts';
import { generateName, generateUid } from './generate-name.ts';

/** Number of attempts to generate a name that is not in use. */
const nameAttempts = 8;

/**
 * Stores a new object and takes ownership of it. A dry run returns the object without storing it. Throws 400, 403, 404 (no such
 * namespace), 405 (the CRD is terminating), 409 or 422.
 */
export function createObject(
  context: ApiContext,
  type: ResourceType,
  namespace: string | undefined,
  object: JsonObject,
  dryRun: boolean,
): StoredObject {
  const metadata = ensureObject(object, 'metadata');
  admitNamespace(context, type, namespace, metadata);
  admitToType(context, type);
  const collection = context.store.collection(type.storage);
  const isTaken = (name: string): boolean => collection.get(namespace ?? '', name) !== undefined;
  nameObject(context, type, metadata, isTaken);
  resetMetadata(context, metadata);

  const { behavior } = type;
  if (hasStatusSubresource(type) && behavior.createKeepsStatus !== true) delete object.status;
  behavior.applyDefaults?.(object);
  behavior.admitCreate?.(object, context);
  if (behavior.generation !== undefined) metadata.generation = 1;

  const name = metadata.name as string;
  const causes = [
    ...validateMetadata(object, behavior.nameRule ?? 'subdomain'),
    ...(behavior.validate?.(object, context) ?? []),
  ];
  if (causes.length > 0) throw invalid(type.kind, type.group, name, causes);
  validateContent(type, object, name);
  const existing = collection.get(namespace ?? '', name);
  if (existing !== undefined)
    throw alreadyExists(type, name, metadataOf(existing.object).deletionTimestamp !== undefined);
  return dryRun ? new StoredObject(object, 0) : collection.write(object);
}

function admitNamespace(
  context: ApiContext,
  type: ResourceType,
  namespace: string | undefined,
  metadata: JsonObject,
): void {
  const objectNamespace = textAt(metadata, 'namespace');
  if (!type.namespaced) {
    if (objectNamespace !== '')
      throw badRequest(`namespace is not allowed on this type: ${type.kind} is cluster-scoped`);
    delete metadata.namespace;
    return;
  }
  if (namespace === undefined) {
    throw badRequest(
      `an empty namespace may not be set during creation: POST to .../namespaces/NAMESPACE/${type.plural}`,
    );
  }
  if (objectNamespace !== '' && objectNamespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  metadata.namespace = namespace;
  const stored = context.store.collection('namespaces').get('', namespace);
  if (stored === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (metadataOf(stored.object).deletionTimestamp !== undefined) {
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    throw forbidden(type, textAt(metadata, 'name'), why);
  }
}

/** Rejects new objects of a custom resource whose CRD is being deleted. Throws 405. */
function admitToType(context: ApiContext, type: ResourceType): void {
  if (type.content.type !== 'structural') return;
  const definition = context.store.collection('customresourcedefinitions.apiextensions.k8s.io').get('', type.storage);
  if (definition === undefined || metadataOf(definition.object).deletionTimestamp === undefined) return;
  throw methodNotAllowed(`create not allowed while custom resource definition ${type.storage} is terminating`);
}

function nameObject(
  context: ApiContext,
  type: ResourceType,
  metadata: JsonObject,
  isTaken: (name: string) => boolean,
): void {
  if (textAt(metadata, 'name') !== '') return;
  const prefix = textAt(metadata, 'generateName');
  if (prefix === '') throw invalid(type.kind, type.group, '', [missingName()]);
  for (let attempt = 0; attempt < nameAttempts; attempt++) {
    const name = generateName(prefix, context.random);
    metadata.name = name;
    if (!isTaken(name)) return;
  }
}

/** Sets the metadata that only the server may set. */
function resetMetadata(context: ApiContext, metadata: JsonObject): void {
  if (textAt(metadata, 'resourceVersion') !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  for (const field of [
    'resourceVersion',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'managedFields',
    'selfLink',
  ]) {
    delete metadata[field];
  }
  metadata.uid = generateUid(context.random);
  metadata.creationTimestamp = context.now();
}
