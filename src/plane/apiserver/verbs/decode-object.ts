import { ApiError, badRequest, invalid } from '../http/api-error.ts';
import { rejectNesting } from '../http/decode-body.ts';
import type { JsonObject } from '../json.ts';
import { objectAt, textAt } from '../kinds/access.ts';
import { invalidValue } from '../schema/field-error.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { decodeStrict, pruneAndDefault } from '../schema/index.ts';
import { normalizeModel } from './normalize-model.ts';
import type { FieldValidation } from './request-options.ts';

export interface DecodedObject {
  /** The object in its stored shape. The caller owns it. */
  readonly object: JsonObject;
  /** Warnings for kubectl to print. */
  readonly warnings: readonly string[];
}

/**
 * Decodes an object from a client into its stored shape. Checks its kind, rejects, reports or drops unknown fields according to
 * `fieldValidation`, and fills in the defaults of a custom resource's schema. Takes ownership of `sent`. Throws 400 for the wrong
 * kind of a built-in resource, for a field of the wrong type, and for an object that is nested too deeply. Throws 422 for the wrong
 * kind of a custom resource, and for unknown fields in a patch if the validation is Strict.
 */
export function decodeObject(
  type: ResourceType,
  sent: JsonObject,
  fieldValidation: FieldValidation,
  from: 'body' | 'patch' = 'body',
): DecodedObject {
  rejectNesting(sent);
  const apiVersion = apiVersionOf(type);
  if (type.content.type === 'structural' && sent.kind === undefined) {
    throw badRequest("Object 'Kind' is missing in the request body");
  }
  if (type.content.type === 'structural') rejectOtherType(type, sent, apiVersion);
  if ((sent.kind ?? type.kind) !== type.kind || (sent.apiVersion ?? apiVersion) !== apiVersion) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): apiVersion ${JSON.stringify(sent.apiVersion)}, kind ${JSON.stringify(sent.kind)}; want apiVersion ${JSON.stringify(apiVersion)}`,
    );
  }
  const { content, unknownFields } = decodeContent(type, sent);
  const problems = unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`);
  if (fieldValidation === 'Strict' && problems.length > 0) {
    const why = `strict decoding error: ${problems.join(', ')}`;
    if (from === 'patch') throw invalidPatch(why);
    throw badRequest(`${cannotBeHandled(type)}: ${why}`);
  }
  const object = type.conversion === undefined ? content : type.conversion.toStored(content);
  return {
    object: { ...object, apiVersion: type.storedApiVersion, kind: type.kind },
    warnings: fieldValidation === 'Warn' ? problems : [],
  };
}

function rejectOtherType(type: ResourceType, sent: JsonObject, apiVersion: string): void {
  const kind = textAt(sent, 'kind');
  if (textAt(sent, 'apiVersion') !== apiVersion) {
    throw badRequest(
      `the API version in the data (${textAt(sent, 'apiVersion')}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (kind === type.kind) return;
  const name = textAt(objectAt(sent, 'metadata'), 'name');
  throw invalid(kind, type.group, name, [invalidValue('kind', kind, `must be ${type.kind}`)]);
}

/** Returns 422 rather than 400: the patch is well-formed, but the patched object has unknown fields. */
function invalidPatch(why: string): Error {
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: ` "" is invalid: patch: ${why}`,
    details: { causes: [{ reason: 'FieldValueInvalid', message: why, field: 'patch' }] },
  });
}

function cannotBeHandled(type: ResourceType): string {
  return `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
}

interface DecodedContent {
  readonly content: JsonObject;
  readonly unknownFields: readonly string[];
}

function decodeContent(type: ResourceType, sent: JsonObject): DecodedContent {
  if (type.content.type === 'model') {
    const unknownFields = checkTypes(type, sent, type.content.model);
    return { content: normalizeModel(sent, type.content.model), unknownFields };
  }
  // The schema does not describe metadata. Its type is the same in every model, so V1Pod's will do.
  const unknownInMetadata = checkTypes(type, { metadata: sent.metadata ?? {} }, 'V1Pod');
  const pruned = pruneAndDefault(sent, type.content.schema);
  return {
    content: {
      ...(pruned.value as JsonObject),
      metadata: normalizeModel((sent.metadata ?? {}) as JsonObject, 'V1ObjectMeta'),
    },
    unknownFields: [...unknownInMetadata, ...pruned.unknownFields].sort(),
  };
}

/** Returns the unknown fields of an object of that model. Throws 400 if a known field has a value of the wrong type. */
function checkTypes(type: ResourceType, object: JsonObject, model: string): readonly string[] {
  const { unknownFields, errors } = decodeStrict(object, model);
  if (errors.length === 0) return unknownFields;
  const list = errors.map((error) => `${error.field}: ${error.message}`).join(', ');
  throw badRequest(`${cannotBeHandled(type)}: ${list}`);
}

/** Checks a custom resource's content against its schema. Throws 422. */
export function validateContent(type: ResourceType, object: JsonObject, name: string): void {
  if (type.content.type !== 'structural') return;
  const errors = type.content.validate(object);
  if (errors.length > 0) throw invalid(type.kind, type.group, name, errors);
}
