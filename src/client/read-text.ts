import { Buffer } from 'node:buffer';
import { CollectedBody } from './http/collected-body.ts';
import { AnswerTooLongError } from './transport.ts';

/**
 * Reads the whole body as text. It decodes UTF-8 at the end, so that a character split across chunks survives. Rejects with
 * AnswerTooLongError if the body is longer than `maxBytes`.
 */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes = Infinity): Promise<string> {
  if (body instanceof CollectedBody && body.length <= maxBytes) return body.text();
  return (await readBytes(body, maxBytes)).toString('utf8');
}

/** Reads the whole body as bytes. Rejects with AnswerTooLongError if it is longer than `maxBytes`. */
export async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes = Infinity): Promise<Buffer> {
  const { chunks, isWhole } = await read(body, maxBytes);
  if (!isWhole) throw new AnswerTooLongError(`the response is longer than ${maxBytes} bytes`);
  return joined(chunks);
}

/** Reads the beginning of a body, as text. */
export async function readBeginning(body: AsyncIterable<Uint8Array>, bytes: number): Promise<string> {
  return joined((await read(body, bytes)).chunks)
    .subarray(0, bytes)
    .toString('utf8');
}

/** Stops reading a body that is longer. */
async function read(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly chunks: readonly Uint8Array[]; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) return { chunks, isWhole: false };
  }
  return { chunks, isWhole: true };
}

function joined(chunks: readonly Uint8Array[]): Buffer {
  const only = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
}
