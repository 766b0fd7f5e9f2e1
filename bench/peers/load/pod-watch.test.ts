import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { PodWatch } from './pod-watch.ts';

const event = (name: string, version: number, nodeName?: string): string =>
  `${JSON.stringify({ type: 'ADDED', object: { metadata: { name, resourceVersion: `${version}` }, spec: { nodeName } } })}\n`;

async function* chunks(...texts: string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Follows these watch bodies one after the other. Returns the requested resource versions and the final error. */
async function follow(
  watch: PodWatch,
  ...bodies: AsyncIterable<Uint8Array>[]
): Promise<{ from: string[]; error: string }> {
  const from: string[] = [];
  const open = (version: string): Promise<AsyncIterable<Uint8Array>> => {
    from.push(version);
    const body = bodies.shift();
    return body === undefined ? Promise.reject(new Error('no more')) : Promise.resolve(body);
  };
  const error = await watch.follow(open, '0').catch((reason: unknown) => String(reason));
  return { from, error };
}

it('parses events that are split across chunks', async () => {
  const text = event('größe', 1) + event('größe', 2, 'node-1') + event('b', 3);
  const bytes = [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
  const watch = new PodWatch();
  await follow(
    watch,
    (async function* () {
      yield* bytes;
    })(),
  );
  expect([watch.seen, watch.bound]).toEqual([2, 1]);
  const { createdAt, boundAt } = watch.timesOf('größe')!;
  expect(boundAt).toBeGreaterThanOrEqual(createdAt);
  expect(watch.timesOf('b')!.boundAt).toBeUndefined();
});

it('resumes a watch after its last event, and counts the restarts', async () => {
  const watch = new PodWatch();
  const { from } = await follow(watch, chunks(event('a', 5)), chunks(), chunks(event('a', 9, 'node-1')));
  expect(from).toEqual(['0', '5', '5', '9']);
  expect([watch.seen, watch.bound, watch.restarts]).toEqual([1, 1, 3]);
});

it('fails on an error event', async () => {
  const gone = `${JSON.stringify({ type: 'ERROR', object: { message: 'too old resource version' } })}\n`;
  const { error } = await follow(new PodWatch(), chunks(gone));
  expect(error).toContain('too old resource version');
});
