import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { BodyStream } from './body-stream.ts';

function open(): { stream: BodyStream; asked: string[] } {
  const asked: string[] = [];
  const stream = new BodyStream({
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
    cancel: () => asked.push('cancel'),
  });
  return { stream, asked };
}

test('gives what has arrived, as one chunk, whoever was first: the chunk or its reader', async () => {
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

test('a connection that is lost is an error, also to a reader who waits', async () => {
  const { stream } = open();
  const waiting = stream.next();
  stream.end(new Error('reset'));
  await expect(waiting).rejects.toThrow('reset');
  await expect(stream.next()).rejects.toThrow('reset');
});

test('a reader who falls a megabyte behind makes the connection wait until he has caught up', async () => {
  const { stream, asked } = open();
  const half = Buffer.alloc(524_288);
  stream.push(half);
  expect(asked).toEqual([]);
  stream.push(half);
  stream.push(half);
  expect(asked).toEqual(['pause']);
  expect((await stream.next()).value!.length).toBe(3 * half.length);
  expect(asked).toEqual(['pause', 'resume']);
});

test('a reader who leaves gives the connection up, once, and not after the end', async () => {
  const { stream, asked } = open();
  stream.push(Buffer.from('x'));
  for await (const chunk of stream) if (chunk.length > 0) break;
  await stream.return();
  expect(asked).toEqual(['cancel']);
  expect(await stream.next()).toEqual({ done: true, value: undefined });

  const ended = open();
  ended.stream.end();
  await ended.stream.return();
  expect(ended.asked).toEqual([]);
});
