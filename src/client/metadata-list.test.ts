import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { ProtobufError } from '../base/wire-reader.ts';
import { readMetadataList } from './metadata-list.ts';

/** Encodes a field with a string or a message. */
function field(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
}

const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields);
const item = (...fields: Buffer[]): Buffer => field(2, message(field(1, message(...fields)), field(9, 'unknown')));

function envelope(list: Buffer): Buffer {
  const type = message(field(1, 'meta.k8s.io/v1'), field(2, 'PartialObjectMetadataList'));
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, list), field(3, ''), field(4, '')]);
}

describe('a list of metadata in protobuf', () => {
  it('decodes to the same objects as JSON', () => {
    const list = message(
      field(1, message(field(1, ''), field(2, '42'), field(3, 'more'), Buffer.from([0x20, 7]))),
      item(field(1, 'ä'), field(2, 'generated-'), field(3, 'default'), field(5, 'uid-1'), field(6, '41')),
      item(field(1, 'node'), field(3, ''), field(5, 'u'.repeat(200)), field(6, '7')),
    );
    expect(readMetadataList(envelope(list))).toEqual({
      metadata: { resourceVersion: '42', continue: 'more' },
      items: [
        { metadata: { name: 'ä', namespace: 'default', uid: 'uid-1', resourceVersion: '41' } },
        { metadata: { name: 'node', uid: 'u'.repeat(200), resourceVersion: '7' } },
      ],
    });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['JSON', Buffer.from('{"items":[]}')],
    ['a list that is cut short', envelope(item(field(1, 'a'))).subarray(0, -8)],
    ['a number where metadata belongs', envelope(Buffer.from([0x08, 1]))],
    ['a name that is not UTF-8', envelope(item(field(1, Buffer.from([0xff]))))],
  ])('is rejected if it is %s', (_, bytes) => {
    expect(() => readMetadataList(bytes)).toThrow(ProtobufError);
  });
});
