import { Buffer } from 'node:buffer';
import { CollectedBody } from './http/collected-body.ts';
import { AnswerTooLongError } from './transport.ts';

/**
 * The whole body as text, decoded from UTF-8 at the end, so that a character cut in two by chunks survives. Rejects with
 * AnswerTooLongError when it is longer than `mostBytes`.
 */
export async function readText(body: AsyncIterable<Uint8Array>, mostBytes = Infinity): Promise<string> {
  if (body instanceof CollectedBody && body.length <= mostBytes) return body.text();
  return (await readBytes(body, mostBytes)).toString('utf8');
}

/** The whole body as it came. Rejects with AnswerTooLongError when it is longer than `mostBytes`. */
export async function readBytes(body: AsyncIterable<Uint8Array>, mostBytes = Infinity): Promise<Buffer> {
  const { chunks, isWhole } = await read(body, mostBytes);
  if (!isWhole) throw new AnswerTooLongError(`the answer is longer than ${mostBytes} bytes`);
  return joined(chunks);
}

/** The beginning of a body, as text. */
export async function readBeginning(body: AsyncIterable<Uint8Array>, bytes: number): Promise<string> {
  return joined((await read(body, bytes)).chunks)
    .subarray(0, bytes)
    .toString('utf8');
}

/** Gives the body up when it is longer. */
async function read(
  body: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<{ readonly chunks: readonly Uint8Array[]; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > mostBytes) return { chunks, isWhole: false };
  }
  return { chunks, isWhole: true };
}

function joined(chunks: readonly Uint8Array[]): Buffer {
  const only = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
}
