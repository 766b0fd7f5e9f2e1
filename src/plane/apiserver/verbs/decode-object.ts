import { ApiError, badRequest, invalid, problemLines } from '../http/api-error.ts';
import { rejectLarge } from '../http/decode-body.ts';
import type { JsonObject } from '../json.ts';
import { maxProblems } from '../schema/field-error.ts';
import { apiVersionOf } from '../kinds/resource-type.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { decodeModel } from '../schema/decode-model.ts';
import { prune } from '../schema/prune.ts';
import type { FieldValidation } from './request-options.ts';

export interface DecodedObject {
  /** The object in its stored shape. The caller owns it. */
  readonly object: JsonObject;
  /** Warnings for kubectl to print. */
  readonly warnings: readonly string[];
}

/**
 * Decodes an object from a client into its stored shape. Checks its kind, rejects, reports or drops unknown fields according to
 * `fieldValidation`. Takes ownership of `sent`. Throws 400 for the wrong
 * kind, for a field of the wrong type, and for an object that is nested too deeply. Throws 413 for an object that is too large, and 422 for
 * unknown fields in a patch if the validation is Strict.
 */
export function decodeObject(
  type: ResourceType,
  sent: JsonObject,
  fieldValidation: FieldValidation,
  from: 'body' | 'patch' = 'body',
): DecodedObject {
  rejectLarge(sent);
  const apiVersion = apiVersionOf(type);
  // Built-in objects may omit their type.
  const implied = type.content.type === 'model' ? { kind: type.kind, apiVersion } : {};
  if ((sent.kind ?? implied.kind) !== type.kind || (sent.apiVersion ?? implied.apiVersion) !== apiVersion) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): apiVersion ${JSON.stringify(sent.apiVersion)}, kind ${JSON.stringify(sent.kind)}; want apiVersion ${JSON.stringify(apiVersion)}`,
    );
  }
  const { content, unknownFields } = decodeContent(type, sent);
  const problems = problemLines(unknownFields, (field) => `unknown field ${JSON.stringify(field)}`);
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

/** Returns 422 rather than 400: the patch is well-formed, but the patched object has unknown fields. */
function invalidPatch(why: string): Error {
  const causes = [{ reason: 'FieldValueInvalid', message: why, field: 'patch' }];
  return new ApiError(422, 'Invalid', ` "" is invalid: patch: ${why}`, { causes });
}

function cannotBeHandled(type: ResourceType): string {
  return `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
}

interface DecodedContent {
  readonly content: JsonObject;
  readonly unknownFields: readonly string[];
}

function decodeContent(type: ResourceType, sent: JsonObject): DecodedContent {
  if (type.content.type === 'model') return decodeTyped(type, sent, type.content.model);
  // The schema does not describe metadata. Its type is the same in every model, so V1Pod's will do.
  const typed = decodeTyped(type, { metadata: sent.metadata ?? {} }, 'V1Pod');
  const pruned = prune(sent, type.content.schema);
  const unknownFields = [...typed.unknownFields, ...pruned.unknownFields];
  // Sorting builds the text of every path.
  if (unknownFields.length <= maxProblems) unknownFields.sort();
  return { content: { ...(pruned.value as JsonObject), ...typed.content }, unknownFields };
}

/** Decodes an object of that model. Throws 400 if a known field has a value of the wrong type. */
function decodeTyped(type: ResourceType, sent: JsonObject, model: string): DecodedContent {
  const { object, unknownFields, errors } = decodeModel(sent, model);
  if (errors.length === 0) return { content: object, unknownFields };
  const list = problemLines(errors, ({ field, message }) => `${field}: ${message}`);
  throw badRequest(`${cannotBeHandled(type)}: ${list.join(', ')}`);
}

/** Checks a custom resource's content against its schema. Throws 422. */
export function validateContent(type: ResourceType, object: JsonObject, name: string): void {
  if (type.content.type !== 'structural') return;
  const errors = type.content.validate(object);
  if (errors.length > 0) throw invalid(type.kind, type.group, name, errors);
}
