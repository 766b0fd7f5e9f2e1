import { RefusedError } from '../api/timeline/timeline-client.ts';

/** Opens a stream of Server-Sent Events, and returns its text piece by piece. Rejects with RefusedError if the server refuses it. */
export async function openEvents(
  url: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const response = await fetch(url, { headers, cache: 'no-store', signal });
  if (!response.ok || response.body === null) throw new RefusedError(await reasonOf(response));
  return textsOf(response.body);
}

/** Not all browsers can iterate over a stream. */
async function* textsOf(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}

async function reasonOf(response: Response): Promise<string> {
  const text = (await response.text()).trim();
  return text === '' || text.length > 300 ? `the server answered with ${response.status}` : text;
}
