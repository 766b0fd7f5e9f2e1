import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { decodeProtobuf } from './decode-protobuf.ts';
import { UnknownFieldError } from './decode-model.ts';
import { ProtobufError } from '../../../base/wire-reader.ts';

type Part = readonly [number: number, value: string | number | bigint | Uint8Array];

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    const byte = Number(rest & 0x7fn);
    if (rest < 0x80n) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

/** A message of numbered fields: texts, numbers and messages. */
function message(...parts: readonly Part[]): Uint8Array {
  const bytes = parts.map(([number, value]) => {
    if (typeof value === 'number' || typeof value === 'bigint') {
      return Buffer.from([...varint(BigInt(number) << 3n), ...varint(BigInt(value))]);
    }
    const content = typeof value === 'string' ? Buffer.from(value) : value;
    return Buffer.concat([
      Buffer.from([...varint((BigInt(number) << 3n) | 2n), ...varint(BigInt(content.length))]),
      content,
    ]);
  });
  return Buffer.concat(bytes);
}

function body(apiVersion: string, kind: string, object: Uint8Array): Uint8Array {
  const envelope = message([1, message([1, apiVersion], [2, kind])], [2, object], [3, ''], [4, '']);
  return Buffer.concat([Buffer.from('k8s\0'), envelope]);
}

const named = message([1, 'a'], [2, ''], [3, ''], [5, ''], [8, new Uint8Array()]);

function send(bytes: Uint8Array, path = '/api/v1/namespaces/default/configmaps'): ReturnType<ApiClient['send']> {
  return new ApiClient().send('POST', path, bytes, { 'content-type': 'application/vnd.kubernetes.protobuf' });
}

describe('a protobuf body', () => {
  it('is what the same object is in JSON, without the zeros that only say that nothing is set', () => {
    const entry = message([1, 'key'], [2, 'value']);
    const map = message([1, named], [2, entry], [3, message([1, 'raw'], [2, Buffer.from([1, 2])])], [4, 0]);
    expect(decodeProtobuf(body('v1', 'ConfigMap', map))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { key: 'value' },
      binaryData: { raw: 'AQI=' },
      // A pointer keeps its zero.
      immutable: false,
    });
  });

  it('may have no object, as an empty DeleteOptions has', () => {
    const bytes = Buffer.concat([Buffer.from('k8s\0'), message([1, message([1, 'v1'], [2, 'DeleteOptions'])])]);
    expect(decodeProtobuf(bytes)).toEqual({ apiVersion: 'v1', kind: 'DeleteOptions' });
  });

  it('has numbers below zero, times, quantities and what is a number or a text', () => {
    const rolling = message([1, message([1, 1], [3, '25%'])], [2, message([1, 0], [2, 2])]);
    const strategy = message([1, 'RollingUpdate'], [2, rolling]);
    const condition = message([1, 'Available'], [2, 'True'], [6, message([1, 1_700_000_000], [2, 5])], [7, message()]);
    const deployment = message([1, named], [2, message([1, -3n], [4, strategy])], [3, message([1, 7], [6, condition])]);
    expect(decodeProtobuf(body('apps/v1', 'Deployment', deployment))).toMatchObject({
      spec: { replicas: -3, strategy: { rollingUpdate: { maxUnavailable: '25%', maxSurge: 2 } } },
      status: { observedGeneration: 7, conditions: [{ lastUpdateTime: '2023-11-14T22:13:20Z' }] },
    });
    const lease = message([1, named], [2, message([2, 15], [3, message([1, 1_700_000_000], [2, 123_456_000])])]);
    expect(decodeProtobuf(body('coordination.k8s.io/v1', 'Lease', lease)).spec).toEqual({
      leaseDurationSeconds: 15,
      acquireTime: '2023-11-14T22:13:20.123456Z',
    });
    const limits = message([1, message([1, 'cpu'], [2, message([1, '500m'])])]);
    const pod = message([1, named], [2, message([2, message([1, 'c'], [8, limits])])]);
    expect(decodeProtobuf(body('v1', 'Pod', pod)).spec).toMatchObject({
      containers: [{ name: 'c', resources: { limits: { cpu: '500m' } } }],
    });
  });

  it('has the fields of a part that JSON has no name for where JSON has them', () => {
    const source = message([19, message([1, message([1, 'settings'])])]);
    const pod = message([1, named], [2, message([1, message([1, 'v'], [2, source])])]);
    expect(decodeProtobuf(body('v1', 'Pod', pod)).spec).toMatchObject({
      volumes: [{ name: 'v', configMap: { name: 'settings' } }],
    });
  });

  it('keeps keys that mean something to JavaScript', () => {
    const map = message([1, named], [2, message([1, '__proto__'], [2, 'value'])]);
    const { data } = decodeProtobuf(body('v1', 'ConfigMap', map));
    expect(Object.entries(data as object)).toEqual([['__proto__', 'value']]);
  });

  it.each<[string, () => Uint8Array]>([
    ['of a kind that is not known', () => body('batch/v1', 'CronJob', named)],
    [
      'of a definition, whose schema is no plain message',
      () => body('apiextensions.k8s.io/v1', 'CustomResourceDefinition', named),
    ],
    ['with a field that is not known', () => body('v1', 'ConfigMap', message([1, named], [99, 'news']))],
    [
      'that is compressed',
      () => Buffer.concat([Buffer.from('k8s\0'), message([1, message([1, 'v1'], [2, 'ConfigMap'])], [3, 'gzip'])]),
    ],
  ])('%s is refused, naming what is wrong and the way out', async (_what, bytes) => {
    expect(() => decodeProtobuf(bytes())).toThrow(UnknownFieldError);
    const answer = await send(bytes());
    expect(answer.status).toBe(415);
    expect(answer.body.message).toMatch(
      /^this API server cannot read this protobuf body: .+; write the object as JSON or YAML/,
    );
  });

  it('may have a field that is not known and says nothing', async () => {
    expect((await send(body('v1', 'ConfigMap', message([1, named], [99, ''], [98, 0])))).status).toBe(201);
  });

  it('of another kind than the path is refused', async () => {
    const answer = await send(body('v1', 'Secret', message([1, named])));
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/must be of type ConfigMap/);
  });

  it.each<[string, () => Uint8Array, RegExp]>([
    ['text', () => Buffer.from('{"kind":"ConfigMap"}'), /does not begin with "k8s"/],
    ['a length beyond the end', () => body('v1', 'ConfigMap', Buffer.from([0x0a, 0xff, 0x7f])), /bytes are announced/],
    [
      'a number without end',
      () => body('v1', 'ConfigMap', Buffer.from([0x20, ...Array<number>(11).fill(0xff)])),
      /more than ten bytes/,
    ],
    ['a wire type that there is not', () => body('v1', 'ConfigMap', Buffer.from([0x0f])), /no wire type 7/],
    ['a field of number 0', () => body('v1', 'ConfigMap', Buffer.from([0x02, 0x00])), /0 is not a field number/],
    ['a number where a message is', () => body('v1', 'ConfigMap', message([1, 5])), /metadata is a varint/],
    [
      'bytes that are no text',
      () => body('v1', 'ConfigMap', message([1, message([1, Buffer.from([0xff, 0xfe])])])),
      /name is not text/,
    ],
    [
      'the same field twice',
      () => body('v1', 'ConfigMap', message([1, named], [1, named])),
      /metadata is there more than once/,
    ],
    [
      'a time that is none',
      () => body('v1', 'ConfigMap', message([1, message([1, 'a'], [8, message([1, 2n ** 62n])])])),
      /not a time/,
    ],
    [
      'a message of more values than any object has',
      () =>
        body('v1', 'ServiceAccount', Buffer.concat(Array<Uint8Array>(250_000).fill(message([2, new Uint8Array()])))),
      /more than 200000 values/,
    ],
  ])('of %s is refused as malformed', async (_what, bytes, message) => {
    expect(() => decodeProtobuf(bytes())).toThrow(ProtobufError);
    const answer = await send(bytes());
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(message);
  });

  it('of any bytes is answered, and never by a failure of the server', async () => {
    const pod = body(
      'v1',
      'Pod',
      message([1, named], [2, message([2, message([1, 'c'], [2, 'i'], [6, message([3, 80])])])]),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(pod.length - 1), byte: fc.nat(255) }), { maxLength: 6 }),
        fc.uint8Array({ maxLength: 30 }),
        async (changes, tail) => {
          const bytes = Buffer.concat([pod, tail]);
          for (const { at, byte } of changes) bytes[at] = byte;
          const answer = await send(bytes, '/api/v1/namespaces/default/pods');
          expect([201, 400, 404, 415, 422]).toContain(answer.status);
        },
      ),
      { numRuns: 300 },
    );
  });
});
