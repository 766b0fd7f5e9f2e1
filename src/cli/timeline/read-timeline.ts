import { emptyTimeline, withMessage } from '../../api/timeline/client-timeline.ts';
import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import { RefusedError } from '../../api/timeline/timeline-client.ts';
import { hasKnownForm } from '../../api/timeline/message-form.ts';
import type { TimelineMessage } from '../../api/timeline/timeline-message.ts';
import type { Clock } from '../../base/clock.ts';
import { EventStreamParser } from '../../base/event-stream-parser.ts';
import { messageOf } from '../../base/message-of.ts';
import { UserError } from '../../base/user-error.ts';
import { LeaderRequestError } from '../explain/leader/forwarded-leader.ts';
import { UnknownAnswerError } from '../explain/leader/unknown-answer-error.ts';
import type { DebugEndpoints } from '../ui/debug-endpoints.ts';
import { openEvents } from './open-events.ts';

const timeoutMs = 30_000;
/** A scheduler with more is broken, or is no scheduler. */
const maxLength = 128 * 2 ** 20;

/** Reads what the scheduler has recorded. Rejects with a UserError if it refuses, does not answer in time, or answers in an unknown form. */
export async function readTimeline(
  endpoints: DebugEndpoints,
  clock: Pick<Clock, 'setTimer'>,
  signal: AbortSignal,
): Promise<ClientTimeline> {
  const abort = new AbortController();
  const timer = clock.setTimer(timeoutMs, () => abort.abort(new Error('it takes too long')));
  try {
    const parser = new EventStreamParser();
    let length = 0;
    for await (const text of await openEvents(endpoints, undefined, AbortSignal.any([signal, abort.signal]))) {
      length += text.length;
      for (const { data } of parser.push(text)) {
        const timeline = withMessage(emptyTimeline, messageIn(data));
        if (timeline.status === 'current') return timeline;
      }
      if (length > maxLength) throw new UnknownAnswerError('/debug/events');
    }
    throw new LeaderRequestError('the scheduler has closed the connection');
  } catch (error) {
    if (error instanceof UserError) throw error;
    const why = error instanceof RefusedError ? error.message : `the scheduler did not answer: ${messageOf(error)}`;
    throw new LeaderRequestError(why, { cause: error });
  } finally {
    timer.cancel();
    abort.abort();
  }
}

function messageIn(data: string): TimelineMessage {
  let message: unknown;
  try {
    message = JSON.parse(data);
  } catch {
    throw new UnknownAnswerError('/debug/events');
  }
  if (!hasKnownForm(message)) throw new UnknownAnswerError('/debug/events');
  return message;
}
