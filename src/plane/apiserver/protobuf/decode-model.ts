import { Buffer } from 'node:buffer';
import type { JsonObject, JsonValue } from '../json.ts';
import { apiModel } from '../schema/api-fields.ts';
import type { ApiField, WireFields } from '../schema/api-fields.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';
import { ProtobufError, WireReader } from '../../../base/wire-reader.ts';
import type { WireValue } from '../../../base/wire-reader.ts';

/** The message says something that this server does not know, and so cannot store. */
export class UnknownFieldError extends Error {
  override readonly name = 'UnknownFieldError';
}

/** Far more than any object that clients send has; each may become an object, which is larger than its bytes. */
const valuesLimit = 200_000;

/**
 * Decodes a protobuf message of a model of the client library ("V1Pod") to what the same object is in JSON. Zeros that
 * only say that a field is not set are left out. No model that is known holds itself, so messages nest no deeper than the models. Throws ProtobufError, or UnknownFieldError for what the model does not have.
 */
export function decodeModel(bytes: Uint8Array, model: string): JsonObject {
  return new Decoding().message(bytes, model, model);
}

class Decoding {
  #valuesLeft = valuesLimit;

  message(bytes: Uint8Array, model: string, path: string): JsonObject {
    const fields = new Map<string, JsonValue>();
    const wire = apiModel(model)?.wire;
    if (wire === undefined) throw new UnknownFieldError(`${path} is of a type that is not known here`);
    this.#fields(bytes, wire, model, fields, path);
    return Object.fromEntries(fields);
  }

  #fields(bytes: Uint8Array, wire: WireFields, model: string, into: Map<string, JsonValue>, path: string): void {
    const reader = new WireReader(bytes);
    while (!reader.done) {
      const { number, value } = reader.field();
      this.#count();
      const field = wire.get(number);
      if (field !== undefined && !isField(field)) {
        this.#fields(bytesOf(value, path), field, model, into, path);
        continue;
      }
      const type = field && modelFields(model)?.get(field.name);
      if (field === undefined || type === undefined) {
        // What is newer than the models here is always sent, and mostly says nothing.
        if (!isZero(value))
          throw new UnknownFieldError(`${path} has a field of number ${number}, which is not known here`);
        continue;
      }
      this.#field(field, type, value, into, `${path}.${field.name}`);
    }
  }

  #field(field: ApiField, type: ValueType, value: WireValue, into: Map<string, JsonValue>, path: string): void {
    const present = into.get(field.name);
    if (type.kind === 'list') {
      const list = Array.isArray(present) ? present : [];
      into.set(field.name, list);
      if (type.element.kind === 'number' && value.type === 'bytes') this.#packed(value.bytes, list);
      else list.push(this.#value(value, type.element, path));
    } else if (type.kind === 'map') {
      into.set(field.name, this.#withEntry(present, value, type.element, path));
    } else if (present !== undefined) {
      throw new ProtobufError(`${path} is there more than once`);
    } else {
      const decoded = this.#value(value, type, path);
      const unset = !field.isPointer && !field.isAlwaysWritten && isUnset(decoded);
      if (!unset && !(decoded === null && !field.isPointer)) into.set(field.name, decoded);
    }
  }

  #packed(bytes: Uint8Array, into: JsonValue[]): void {
    const reader = new WireReader(bytes);
    while (!reader.done) {
      this.#count();
      into.push(signed(reader.varint()));
    }
  }

  #withEntry(map: JsonValue | undefined, value: WireValue, element: ValueType, path: string): JsonObject {
    let key = '';
    let entry: WireValue | undefined;
    const reader = new WireReader(bytesOf(value, path));
    while (!reader.done) {
      const part = reader.field();
      if (part.number === 1) key = text(part.value, path);
      else if (part.number === 2) entry = part.value;
    }
    const decoded = entry === undefined ? emptyValue(element) : this.#value(entry, element, `${path}[${key}]`);
    const entries = (map ?? {}) as JsonObject;
    // A key such as "__proto__" is a key like others.
    Object.defineProperty(entries, key, { value: decoded, enumerable: true, configurable: true, writable: true });
    return entries;
  }

  #value(value: WireValue, type: ValueType, path: string): JsonValue {
    switch (type.kind) {
      case 'model':
        return this.message(bytesOf(value, path), type.name, path);
      case 'list':
        // A list cannot be a value of a map, so the API wraps it in a message of one field.
        return this.#wrappedList(bytesOf(value, path), type.element, path);
      case 'map':
        throw new UnknownFieldError(`${path} is of a type that is not known here`);
      case 'string':
        return text(value, path);
      case 'byte':
        return Buffer.from(bytesOf(value, path)).toString('base64');
      case 'boolean':
        return varint(value, path) !== 0n;
      case 'number':
        return number(value, type.format, path);
      case 'quantity':
        return this.#wrapped(value, path, (part) => text(part, path)) ?? '0';
      case 'any':
        return this.#wrapped(value, path, (part) => json(part, path)) ?? null;
      case 'intOrString':
        return intOrString(bytesOf(value, path), path);
      case 'time':
        return time(bytesOf(value, path), type.format, path);
    }
  }

  #wrappedList(bytes: Uint8Array, element: ValueType, path: string): JsonValue[] {
    const list: JsonValue[] = [];
    const reader = new WireReader(bytes);
    while (!reader.done) {
      this.#count();
      const part = reader.field();
      if (part.number === 1) list.push(this.#value(part.value, element, path));
    }
    return list;
  }

  /** The one field of a message that stands for a single value. */
  #wrapped(value: WireValue, path: string, read: (part: WireValue) => JsonValue): JsonValue | undefined {
    let found: JsonValue | undefined;
    const reader = new WireReader(bytesOf(value, path));
    while (!reader.done) {
      const part = reader.field();
      if (part.number === 1) found = read(part.value);
    }
    return found;
  }

  #count(): void {
    if (--this.#valuesLeft < 0) throw new ProtobufError(`the message has more than ${valuesLimit} values`);
  }
}

function isField(field: ApiField | WireFields): field is ApiField {
  return 'name' in field;
}

function isZero(value: WireValue): boolean {
  return value.type === 'varint' ? value.value === 0n : value.bytes.every((byte) => byte === 0);
}

function isUnset(value: JsonValue): boolean {
  return value === '' || value === 0 || value === false || value === null;
}

function bytesOf(value: WireValue, path: string): Uint8Array {
  if (value.type !== 'bytes') throw new ProtobufError(`${path} is a ${value.type}, which it cannot be`);
  return value.bytes;
}

function varint(value: WireValue, path: string): bigint {
  if (value.type !== 'varint') throw new ProtobufError(`${path} is a ${value.type}, which it cannot be`);
  return value.value;
}

function text(value: WireValue, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(value, path));
  } catch (error) {
    if (error instanceof ProtobufError) throw error;
    throw new ProtobufError(`${path} is not text in UTF-8`, { cause: error });
  }
}

function json(value: WireValue, path: string): JsonValue {
  const found = text(value, path);
  try {
    return JSON.parse(found) as JsonValue;
  } catch (error) {
    throw new ProtobufError(`${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Negative numbers are sent as the ten bytes of their two's complement. */
function signed(value: bigint): number {
  return Number(BigInt.asIntN(64, value));
}

function number(value: WireValue, format: string, path: string): number {
  if (format !== 'double') return signed(varint(value, path));
  if (value.type !== 'fixed64') throw new ProtobufError(`${path} is a ${value.type}, which it cannot be`);
  const found = Buffer.from(value.bytes).readDoubleLE(0);
  if (!Number.isFinite(found)) throw new ProtobufError(`${path} is ${found}, which JSON has no number for`);
  return found;
}

/** Numbered fields of a small message, the last of each. */
function parts(bytes: Uint8Array): Map<number, WireValue> {
  const found = new Map<number, WireValue>();
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const part = reader.field();
    found.set(part.number, part.value);
  }
  return found;
}

function intOrString(bytes: Uint8Array, path: string): JsonValue {
  const found = parts(bytes);
  const [kind, whole, words] = [found.get(1), found.get(2), found.get(3)];
  if (kind !== undefined && varint(kind, path) === 1n) return words === undefined ? '' : text(words, path);
  return whole === undefined ? 0 : signed(varint(whole, path));
}

/** Null where there is none: a moment before the epoch's first second is not said otherwise. */
function time(bytes: Uint8Array, format: 'date-time' | 'date-time-micro', path: string): JsonValue {
  if (bytes.length === 0) return null;
  const found = parts(bytes);
  const [seconds, nanos] = [found.get(1), found.get(2)];
  const ms = seconds === undefined ? 0 : signed(varint(seconds, path)) * 1000;
  const date = new Date(ms);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0) {
    throw new ProtobufError(`${path} is not a time between the years 0 and 9999`);
  }
  const whole = date.toISOString().slice(0, 19);
  if (format === 'date-time') return `${whole}Z`;
  const micros = nanos === undefined ? 0 : Math.trunc(signed(varint(nanos, path)) / 1000);
  if (micros < 0 || micros > 999_999) throw new ProtobufError(`${path} has a fraction that is none`);
  return `${whole}.${String(micros).padStart(6, '0')}Z`;
}

/** The value of a map's entry that has none: the zero of its type. */
function emptyValue(type: ValueType): JsonValue {
  switch (type.kind) {
    case 'string':
    case 'byte':
      return '';
    case 'number':
    case 'intOrString':
      return 0;
    case 'boolean':
      return false;
    case 'list':
      return [];
    case 'quantity':
      return '0';
    case 'time':
    case 'any':
      return null;
    case 'model':
    case 'map':
      return {};
  }
}
