import { badRequest, invalid } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { decodeStrict, pruneAndDefault } from '../schema/index.ts';
import { normalizeModel } from './normalize-model.ts';
import type { FieldValidation } from './request-options.ts';

export interface DecodedObject {
  /** The object in its stored shape; the caller's own. */
  readonly object: JsonObject;
  /** What kubectl shall print. */
  readonly warnings: readonly string[];
}

/**
 * Turns what a client sent for a resource into an object of the stored shape: its kind is checked, unknown and duplicate
 * fields are refused, reported or dropped as `fieldValidation` says, defaults of a custom resource's schema are filled in.
 * Takes over `sent`. Throws 400 for another kind or fields of a wrong type, 422 where a custom resource breaks its schema.
 */
export function decodeObject(
  type: ResourceType,
  sent: JsonObject,
  duplicates: readonly string[],
  fieldValidation: FieldValidation,
): DecodedObject {
  const apiVersion = apiVersionOf(type);
  const custom = type.content.type === 'structural';
  if (custom && sent.kind === undefined) throw badRequest("Object 'Kind' is missing in the request body");
  if ((sent.kind ?? type.kind) !== type.kind || (sent.apiVersion ?? apiVersion) !== apiVersion) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): apiVersion ${JSON.stringify(sent.apiVersion)}, kind ${JSON.stringify(sent.kind)}; want apiVersion ${JSON.stringify(apiVersion)}`,
    );
  }
  const { content, unknownFields } = custom ? decodeCustom(type, sent) : decodeBuiltIn(type, sent);
  const problems = [
    ...unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`),
    ...duplicates.map((field) => `duplicate field ${JSON.stringify(field)}`),
  ];
  if (fieldValidation === 'Strict' && problems.length > 0) {
    throw badRequest(`${cannotBeHandled(type)}: strict decoding error: ${problems.join(', ')}`);
  }
  const object = type.conversion === undefined ? content : type.conversion.toStored(content);
  return {
    object: { ...object, apiVersion: type.storedApiVersion, kind: type.kind },
    warnings: fieldValidation === 'Warn' ? problems : [],
  };
}

function cannotBeHandled(type: ResourceType): string {
  return `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
}

interface DecodedContent {
  readonly content: JsonObject;
  readonly unknownFields: readonly string[];
}

function decodeBuiltIn(type: ResourceType, sent: JsonObject): DecodedContent {
  if (type.content.type !== 'model') throw new Error('not a built-in kind');
  const { unknownFields, errors } = decodeStrict(sent, type.content.model);
  if (errors.length > 0) {
    const list = errors.map((error) => `${error.field}: ${error.message}`).join(', ');
    throw badRequest(`${cannotBeHandled(type)}: ${list}`);
  }
  return { content: normalizeModel(sent, type.content.model), unknownFields };
}

function decodeCustom(type: ResourceType, sent: JsonObject): DecodedContent {
  if (type.content.type !== 'structural') throw new Error('not a custom kind');
  const metadata = decodeStrict({ metadata: sent.metadata ?? {} }, 'V1Pod');
  if (metadata.errors.length > 0) {
    const list = metadata.errors.map((error) => `${error.field}: ${error.message}`).join(', ');
    throw badRequest(`${cannotBeHandled(type)}: ${list}`);
  }
  const pruned = pruneAndDefault(sent, type.content.schema);
  const content = pruned.value as JsonObject;
  return {
    content: { ...content, metadata: normalizeModel((sent.metadata ?? {}) as JsonObject, 'V1ObjectMeta') },
    unknownFields: [...metadata.unknownFields, ...pruned.unknownFields],
  };
}

/** Checks a custom resource's content against its schema. Throws 422. */
export function validateContent(type: ResourceType, object: JsonObject, name: string): void {
  if (type.content.type !== 'structural') return;
  const errors = type.content.validate(object);
  if (errors.length > 0) throw invalid(type.kind, type.group, name, errors);
}
