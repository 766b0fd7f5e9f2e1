import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/base/virtual-clock.ts';
import type { EmbeddedApiServer } from '../../../src/plane/apiserver/embedded-api-server.ts';
import { answerOf, isWatch, readBody } from './exchange.ts';
import type { Exchange, Transcript } from './exchange.ts';
import { sessionServer } from './recorded-plane.ts';
import { writePatterns } from './request-pattern.ts';
import { loadPatterns, loadTranscript, savedTranscripts } from './transcript-files.ts';

/** Further differences are not informative: after the first one the server is in another state. */
const differencesShown = 3;

describe.each(savedTranscripts())('Transcript of %s', (name) => {
  it('gets the same responses again', async () => {
    const found = await differences(loadTranscript(name));
    expect(found, 'if these responses are correct, record them with scripts/record-transcripts.ts').toEqual([]);
  });

  it('has a patterns file with one line for each kind of request', () => {
    expect(writePatterns(loadTranscript(name).exchanges).trimEnd().split('\n')).toEqual(loadPatterns(name));
  });
});

describe('Replay', () => {
  it('detects a status and a response that differ from the recording', async () => {
    const request = { at: 0, client: 'kubectl', method: 'GET', path: '/api/v1/namespaces/default' } as const;
    const startMs = Date.UTC(2026, 0, 1);
    const answer = { kind: 'Namespace', name: 'default', phase: 'Active' };
    const replay = (exchange: Exchange): Promise<unknown[]> => differences({ startMs, exchanges: [exchange] });
    expect(await replay({ ...request, status: 200, answer })).toEqual([]);
    expect(await replay({ ...request, status: 201, answer })).toHaveLength(1);
    expect(await replay({ ...request, status: 200, answer: { ...answer, phase: 'Terminating' } })).toHaveLength(1);
  });
});

/** Sends the same requests at the same times to a fresh server, and returns where it responds differently. */
async function differences({ startMs, exchanges }: Transcript): Promise<unknown[]> {
  const clock = new VirtualClock(startMs);
  const server = sessionServer(clock);
  const found: unknown[] = [];
  for (const [index, exchange] of exchanges.entries()) {
    clock.advance(exchange.at - clock.monotonic());
    const { status, text } = await ask(server, exchange);
    const recorded = { status: exchange.status, answer: exchange.answer };
    // Compare as JSON, which has no undefined fields.
    const answer = recorded.answer && (JSON.parse(JSON.stringify(answerOf(text))) as unknown);
    const answered = { status, answer };
    if (JSON.stringify(recorded) === JSON.stringify(answered)) continue;
    found.push({ line: index + 2, request: `${exchange.method} ${exchange.path}`, recorded, answered });
    if (found.length === differencesShown) break;
  }
  server.close();
  return found;
}

async function ask(server: EmbeddedApiServer, exchange: Exchange): Promise<{ status: number; text: string }> {
  const { method, path, contentType, accept, body } = exchange;
  const headers = {
    host: 'server',
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(accept !== undefined && { accept }),
  };
  const gone = new AbortController();
  const response = await server.handle(
    { method, path, headers, ...(body !== undefined && { body: readBody(exchange) }) },
    gone.signal,
  );
  if (isWatch(path) && response.status === 200) {
    gone.abort();
    return { status: response.status, text: '' };
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  return { status: response.status, text: Buffer.concat(pieces).toString() };
}
