import type { Readable } from 'node:stream';
import { RefusedError } from '../../api/timeline/timeline-client.ts';
import type { DebugEndpoints } from '../ui/debug-endpoints.ts';

const path = '/debug/events';
/** Of an answer that is no stream. */
const maxReasonLength = 1_000;

/**
 * Opens the timeline of a scheduler, and returns the text of the stream piece by piece. Rejects with RefusedError if the scheduler answers with an error, and with
 * a UserError if it cannot be reached.
 */
export async function openEvents(
  endpoints: DebugEndpoints,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const { status, body } = await endpoints.get({ path, headers, signal });
  const texts = textsOf(body);
  if (status === 200) return texts;
  let reason = '';
  for await (const text of texts) {
    reason += text;
    if (reason.length > maxReasonLength) break;
  }
  throw new RefusedError(
    `the scheduler answered GET ${path} with ${status}: ${reason.trim().slice(0, maxReasonLength)}`,
  );
}

async function* textsOf(body: Readable): AsyncIterable<string> {
  for await (const text of body.setEncoding('utf8')) yield String(text);
}
