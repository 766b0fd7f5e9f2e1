import type { JsonObject } from '../json.ts';
import { apiModel } from '../schema/api-fields.ts';
import { modelFields } from '../schema/built-in-types.ts';
import { UnknownFieldError, decodeModel } from './decode-model.ts';
import { ProtobufError, WireReader } from '../../../base/wire-reader.ts';
import type { WireValue } from '../../../base/wire-reader.ts';

/** How every protobuf body of the API begins. */
const magic = [0x6b, 0x38, 0x73, 0];

/**
 * Reads a body of type application/vnd.kubernetes.protobuf: four bytes, then an envelope with the object's apiVersion and
 * kind around the object itself. Throws ProtobufError for what is no such body, UnknownFieldError for an object that
 * is right and of a kind, or with a field, that is not known here.
 */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (!magic.every((byte, index) => bytes[index] === byte)) {
    throw new ProtobufError('it does not begin with "k8s" and a zero byte');
  }
  const envelope = lastFields(bytes.subarray(magic.length));
  const typeMeta = lastFields(bytesAt(envelope, 1));
  const apiVersion = textAt(typeMeta, 1);
  const kind = textAt(typeMeta, 2);
  const [encoding, mediaType] = [textAt(envelope, 3), textAt(envelope, 4)];
  if (encoding !== '' || (mediaType !== '' && mediaType !== 'application/vnd.kubernetes.protobuf')) {
    throw new UnknownFieldError(`the object inside is encoded as ${JSON.stringify(`${mediaType} ${encoding}`.trim())}`);
  }
  const model = modelOf(apiVersion, kind);
  if (model === undefined) {
    throw new UnknownFieldError(`${kind} of ${JSON.stringify(apiVersion)} is not a kind that is read as protobuf here`);
  }
  return { apiVersion, kind, ...decodeModel(bytesAt(envelope, 2), model) };
}

/** Where two groups have a kind of one name, the client library puts the group before the version. */
function modelOf(apiVersion: string, kind: string): string | undefined {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  const prefix = group.split('.')[0]!;
  if (version !== 'v1' || prefix === 'apiextensions') return undefined;
  const names = [`${prefix.charAt(0).toUpperCase()}${prefix.slice(1)}V1${kind}`, `V1${kind}`];
  return names.find((name) => apiModel(name) !== undefined && modelFields(name)?.has('apiVersion') === true);
}

function lastFields(bytes: Uint8Array): ReadonlyMap<number, WireValue> {
  const found = new Map<number, WireValue>();
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, value } = reader.field();
    found.set(number, value);
  }
  return found;
}

function bytesAt(fields: ReadonlyMap<number, WireValue>, number: number): Uint8Array {
  const value = fields.get(number);
  if (value === undefined) return new Uint8Array();
  if (value.type !== 'bytes') throw new ProtobufError(`field ${number} of the envelope is a ${value.type}`);
  return value.bytes;
}

function textAt(fields: ReadonlyMap<number, WireValue>, number: number): string {
  return new TextDecoder().decode(bytesAt(fields, number));
}
