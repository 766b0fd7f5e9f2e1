import { ProtobufError, WireReader } from '../base/wire-reader.ts';
import type { WireField } from '../base/wire-reader.ts';

/** The metadata that identifies an object and its version, as in JSON. Unset fields are absent. */
export interface ListedMetadata {
  readonly metadata: Readonly<Record<string, string>>;
}

/** A PartialObjectMetadataList, reduced to these fields, as in JSON. */
export interface MetadataList {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly ListedMetadata[];
}

const protobuf = 'application/vnd.kubernetes.protobuf';
const kind = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Accept header for such a list: prefers protobuf, which costs the server a fraction of what JSON costs, and falls back to JSON. */
export const metadataListAccept = `${protobuf};${kind},application/json;${kind},application/json`;

/** Returns whether the response is encoded as protobuf. */
export function isProtobuf(contentType: string | undefined): boolean {
  return contentType?.startsWith(protobuf) === true;
}

/** Field number in k8s.io/apimachinery's generated.proto -> name in JSON. */
const listFields = new Map([
  [2, 'resourceVersion'],
  [3, 'continue'],
]);
const objectFields = new Map([
  [1, 'name'],
  [3, 'namespace'],
  [5, 'uid'],
  [6, 'resourceVersion'],
]);
const magicBytes = [0x6b, 0x38, 0x73, 0x00];

/** Reads a PartialObjectMetadataList in Kubernetes' protobuf envelope. Throws ProtobufError. */
export function readMetadataList(bytes: Uint8Array): MetadataList {
  if (!magicBytes.every((byte, index) => bytes[index] === byte)) {
    throw new ProtobufError('the list does not start with "k8s" and a zero byte');
  }
  const items: ListedMetadata[] = [];
  let metadata: Record<string, string> = {};
  for (const raw of messagesIn(bytes.subarray(magicBytes.length), 2)) {
    for (const field of fieldsOf(raw)) {
      if (field.number === 1) metadata = stringFieldsOf(messageOf(field), listFields);
      if (field.number !== 2) continue;
      for (const objectMeta of messagesIn(messageOf(field), 1))
        items.push({ metadata: stringFieldsOf(objectMeta, objectFields) });
    }
  }
  return { metadata, items };
}

function* fieldsOf(message: Uint8Array): Iterable<WireField> {
  const reader = new WireReader(message);
  while (!reader.done) yield reader.field();
}

function* messagesIn(message: Uint8Array, number: number): Iterable<Uint8Array> {
  for (const field of fieldsOf(message)) if (field.number === number) yield messageOf(field);
}

function messageOf({ number, value }: WireField): Uint8Array {
  if (value.type !== 'bytes') throw new ProtobufError(`field ${number} is of type ${value.type}, expected bytes`);
  return value.bytes;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function stringFieldsOf(message: Uint8Array, names: ReadonlyMap<number, string>): Record<string, string> {
  const strings: Record<string, string> = {};
  for (const field of fieldsOf(message)) {
    const name = names.get(field.number);
    if (name === undefined) continue;
    try {
      const text = utf8.decode(messageOf(field));
      if (text !== '') strings[name] = text;
    } catch (cause) {
      if (cause instanceof ProtobufError) throw cause;
      throw new ProtobufError(`${name} is not UTF-8 text`, { cause });
    }
  }
  return strings;
}
