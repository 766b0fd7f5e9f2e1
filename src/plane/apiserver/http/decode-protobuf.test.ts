import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import type { Answer } from '../testing/api-client.ts';
import { configMapsPath } from '../testing/manifests.ts';

const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' };

function send(client: ApiClient, path: string, body: Uint8Array): Promise<Answer> {
  return client.send('POST', path, body, protobuf);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

function bytesField(number: number, content: string | readonly number[]): number[] {
  const bytes = typeof content === 'string' ? [...Buffer.from(content)] : content;
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
}

function envelope(apiVersion: string, kind: string, object: readonly number[]): Uint8Array {
  const typeMeta = [...bytesField(1, apiVersion), ...bytesField(2, kind)];
  return Uint8Array.from([...Buffer.from('k8s\0'), ...bytesField(1, typeMeta), ...bytesField(2, object)]);
}

const metadata = (name: string): number[] => bytesField(1, bytesField(1, name));

describe('a protobuf body, as kubectl create sends it', () => {
  it('is decoded like the same object in JSON, even with a key such as __proto__', async () => {
    const entry = bytesField(2, [...bytesField(1, '__proto__'), ...bytesField(2, 'value')]);
    const { status, body } = await send(
      new ApiClient(),
      configMapsPath,
      envelope('v1', 'ConfigMap', [...metadata('a'), ...entry]),
    );
    expect(status).toBe(201);
    expect(JSON.stringify(body.data)).toBe('{"__proto__":"value"}');
  });

  it.each<[string, number, Uint8Array]>([
    ['a kind that is not supported in protobuf', 415, envelope('v1', 'Node', metadata('a'))],
    ['an unknown field', 415, envelope('v1', 'ConfigMap', [...metadata('a'), ...bytesField(9, 'x')])],
    ['no envelope', 400, Uint8Array.from([1, 2, 3])],
    ['a length beyond the end', 400, Uint8Array.from([...Buffer.from('k8s\0'), 10, 100, 1])],
    ['a kind other than the path names', 400, envelope('v1', 'Namespace', metadata('a'))],
  ])('with %s is rejected', async (_, status, body) => {
    const answer = await send(new ApiClient(), configMapsPath, body);
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.body.message).toContain('--dry-run=client -o yaml | kubectl apply -f -');
  });

  it('of random bytes never causes an internal error', async () => {
    const client = new ApiClient();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        const answer = await send(client, configMapsPath, envelope('v1', 'ConfigMap', [...bytes]));
        expect([201, 400, 409, 415, 422]).toContain(answer.status);
      }),
    );
  });
});
