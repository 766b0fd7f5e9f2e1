import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { BodyStream } from './body-stream.ts';

function open(): { stream: BodyStream; calls: string[] } {
  const calls: string[] = [];
  const stream = new BodyStream({
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    cancel: () => calls.push('cancel'),
  });
  return { stream, calls };
}

test('returns all bytes so far as one chunk, whether the chunk or its reader comes first', async () => {
  const { stream } = open();
  const early = stream.next();
  const borrowed = Buffer.from('one');
  stream.push(borrowed);
  borrowed.fill('?');
  expect(Buffer.from((await early).value!).toString()).toBe('one');
  stream.push(Buffer.from('two '));
  stream.push(Buffer.from('three'));
  stream.end();
  expect(Buffer.from((await stream.next()).value!).toString()).toBe('two three');
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('rejects when the connection is lost, even for a reader that already waits', async () => {
  const { stream } = open();
  const waiting = stream.next();
  stream.end(new Error('reset'));
  await expect(waiting).rejects.toThrow('reset');
  await expect(stream.next()).rejects.toThrow('reset');
});

test('pauses the connection while the reader is a megabyte behind', async () => {
  const { stream, calls } = open();
  const half = Buffer.alloc(524_288);
  stream.push(half);
  expect(calls).toEqual([]);
  stream.push(half);
  stream.push(half);
  expect(calls).toEqual(['pause']);
  expect((await stream.next()).value!.length).toBe(3 * half.length);
  expect(calls).toEqual(['pause', 'resume']);
});

test('cancels the connection when its reader stops early, once, and not after the end', async () => {
  const { stream, calls } = open();
  stream.push(Buffer.from('x'));
  for await (const chunk of stream) if (chunk.length > 0) break;
  await stream.return();
  expect(calls).toEqual(['cancel']);
  expect(await stream.next()).toEqual({ done: true, value: undefined });

  const ended = open();
  ended.stream.end();
  await ended.stream.return();
  expect(ended.calls).toEqual([]);
});
