import { Buffer } from 'node:buffer';
import type { TransportRequest } from '../../../src/client/transport.ts';

/** The part of a response body that a replay compares: enough to distinguish what the client received. */
export type Answer = Readonly<Record<string, unknown>>;

/** One request to the API server and its response. */
export interface Exchange {
  /** Milliseconds since the server was created. */
  readonly at: number;
  /** The client program: `kubectl`, `client-node`, or the user agent of one of our own. */
  readonly client: string;
  readonly method: TransportRequest['method'];
  /** Includes the query. */
  readonly path: string;
  readonly contentType?: string;
  readonly accept?: string;
  /** Text, or base64 for protobuf. */
  readonly body?: string;
  status: number;
  /** Absent for watches and for responses that the client did not read to the end. */
  answer?: Answer;
}

/** A session: the start time of the server, and all requests to it in order. */
export interface Transcript {
  /** Wall-clock milliseconds when the server was created. */
  readonly startMs: number;
  readonly exchanges: readonly Exchange[];
}

const protobuf = 'application/vnd.kubernetes.protobuf';

/** Encodes a request body for a transcript. */
export function writeBody(body: string | Uint8Array, contentType: string | undefined): string {
  if (typeof body === 'string') return body;
  return Buffer.from(body).toString(contentType === protobuf ? 'base64' : 'utf8');
}

export function readBody({ body = '', contentType }: Exchange): string | Uint8Array {
  return contentType === protobuf ? Buffer.from(body, 'base64') : body;
}

export function isWatch(path: string): boolean {
  return /[?&]watch=(true|1)/.test(path);
}

/** Writes one line per request, so that two recordings can be compared line by line. */
export function writeTranscript({ startMs, exchanges }: Transcript): string {
  return [{ startMs }, ...exchanges].map((line) => `${JSON.stringify(line)}\n`).join('');
}

export function readTranscript(text: string): Transcript {
  const [head, ...exchanges] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  return { startMs: (head as Transcript).startMs, exchanges: exchanges as Exchange[] };
}

interface AnsweredObject {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly columnDefinitions?: readonly { readonly name: string }[];
  readonly rows?: readonly { readonly cells: readonly unknown[] }[];
  readonly items?: readonly AnsweredObject[];
  readonly metadata?: { readonly namespace?: string; readonly name?: string; readonly deletionTimestamp?: string };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: unknown;
}

/** Summarizes a complete response body. */
export function answerOf(text: string): Answer {
  if (!text.startsWith('{')) return { text: text.slice(0, 80) };
  const body = JSON.parse(text) as AnsweredObject;
  if (body.kind === undefined) return { fields: Object.keys(body).sort() };
  if (body.kind === 'Status') return { kind: 'Status', reason: body.reason, message: body.message };
  if (body.kind === 'Table') {
    return {
      kind: 'Table',
      columns: body.columnDefinitions?.map(({ name }) => name),
      rows: body.rows?.map(({ cells }) => cells),
    };
  }
  if (body.items !== undefined) return { kind: body.kind, items: body.items.map(nameOf) };
  return {
    kind: body.kind,
    name: nameOf(body),
    node: body.spec?.nodeName,
    phase: (body.status as { phase?: string } | undefined)?.phase,
    deleting: body.metadata?.deletionTimestamp !== undefined || undefined,
  };
}

function nameOf({ metadata = {} }: AnsweredObject): string {
  return [metadata.namespace, metadata.name].filter((part) => part !== undefined).join('/');
}
