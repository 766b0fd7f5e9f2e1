import { Buffer } from 'node:buffer';
import { CollectedBody } from './http/collected-body.ts';

/** The whole body as text, decoded from UTF-8 at the end, so that a character cut in two by chunks survives. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof CollectedBody) return body.text();
  return (await readBytes(body)).toString('utf8');
}

/** The whole body as it came. */
export async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const only = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
}
