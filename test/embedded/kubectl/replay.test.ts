import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/base/virtual-clock.ts';
import type { EmbeddedApiServer } from '../../../src/plane/apiserver/embedded-api-server.ts';
import { answerOf, isWatch, readBody } from './exchange.ts';
import type { Exchange, Transcript } from './exchange.ts';
import { sessionServer } from './recorded-plane.ts';
import { writePatterns } from './request-pattern.ts';
import { loadPatterns, loadTranscript, savedTranscripts } from './transcript-files.ts';

/** After the first difference the server's state diverges, so further ones say little. */
const maxDifferences = 3;

describe.each(savedTranscripts())('Transcript of %s', (name) => {
  it('gets the same responses when replayed', async () => {
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

/** Sends the same requests at the same times to a fresh server, and returns the responses that differ. */
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
    const actual = { status, answer };
    if (JSON.stringify(recorded) === JSON.stringify(actual)) continue;
    found.push({ line: index + 2, request: `${exchange.method} ${exchange.path}`, recorded, actual });
    if (found.length === maxDifferences) break;
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
  const disconnect = new AbortController();
  const response = await server.handle(
    { method, path, headers, ...(body !== undefined && { body: readBody(exchange) }) },
    disconnect.signal,
  );
  if (isWatch(path) && response.status === 200) {
    disconnect.abort();
    return { status: response.status, text: '' };
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, text: Buffer.concat(chunks).toString() };
}
