import { Buffer } from 'node:buffer';
import type { TransportResponse } from '../../../client/transport.ts';
import type { JsonValue } from '../json.ts';

export interface ResponseHead {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a complete response with a text body. */
export function textResponse(
  text: string,
  contentType: string,
  head: ResponseHead = { status: 200 },
): TransportResponse {
  const bytes = Buffer.from(text);
  return {
    status: head.status,
    headers: { 'content-type': contentType, 'content-length': String(bytes.length), ...head.headers },
    body: singlePiece(bytes),
  };
}

export function jsonResponse(value: JsonValue, head?: ResponseHead): TransportResponse {
  return textResponse(JSON.stringify(value), 'application/json', head);
}

/** Returns the response for a group or version that does not exist. Its body is plain text, not a Status. */
export function pageNotFound(): TransportResponse {
  return textResponse('404 page not found\n', 'text/plain; charset=utf-8', { status: 404 });
}

async function* singlePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Maximum total length of the warnings. If they exceed it, each warning is cut to `warningLimit`, as in kube-apiserver. */
const warningsLimit = 4096;
const warningLimit = 256;

/**
 * Returns the headers that make kubectl print warnings. Encodes the text as UTF-8, because a header holds bytes, and replaces control
 * characters with spaces. Truncates long or many warnings to what clients accept in a header.
 */
export function warningHeaders(warnings: readonly string[]): Record<string, string> {
  let texts = warnings.map((warning) => warning.replaceAll(/\p{Cc}/gu, ' '));
  if (texts.reduce((sum, text) => sum + text.length, 0) > warningsLimit) {
    texts = texts.slice(0, warningsLimit / warningLimit).map((text) => text.slice(0, warningLimit));
  }
  if (texts.length === 0) return {};
  const header = texts.map((text) => `299 - "${text.replaceAll(/["\\]/g, '\\$&')}"`).join(', ');
  return { warning: Buffer.from(header.toWellFormed(), 'utf8').toString('latin1') };
}
