/** An unreadable protobuf message: truncated, or not in the form of its type. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

/** One encoded field of a message. */
export interface WireField {
  readonly number: number;
  readonly value: WireValue;
}

export type WireValue =
  | { readonly type: 'varint'; readonly value: bigint }
  | { readonly type: 'fixed64'; readonly bytes: Uint8Array }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'fixed32'; readonly bytes: Uint8Array };

const maxFieldNumber = 2 ** 29 - 1;

/** Reads protobuf's wire format field by field; the results share the message's bytes. Throws ProtobufError. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  field(): WireField {
    const tag = this.#small('a field tag');
    const number = Math.floor(tag / 8);
    if (number < 1 || number > maxFieldNumber) throw new ProtobufError(`${number} is not a field number`);
    return { number, value: this.#value(tag % 8) };
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new ProtobufError('a number is truncated');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError('a number has more than ten bytes');
  }

  #value(wireType: number): WireValue {
    switch (wireType) {
      case 0:
        return { type: 'varint', value: this.varint() };
      case 1:
        return { type: 'fixed64', bytes: this.#take(8) };
      case 2:
        return { type: 'bytes', bytes: this.#take(this.#small('a length')) };
      case 5:
        return { type: 'fixed32', bytes: this.#take(4) };
      default:
        throw new ProtobufError(`unknown wire type ${wireType}`);
    }
  }

  /** Reads a number that a valid message keeps small. */
  #small(what: string): number {
    const value = this.varint();
    if (value > 0xffff_ffffn) throw new ProtobufError(`${what} is out of range`);
    return Number(value);
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) {
      throw new ProtobufError(`a field announces ${length} bytes, but only ${this.#bytes.length - this.#at} are left`);
    }
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
