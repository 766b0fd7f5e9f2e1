import { explainApiVersion } from '../../api/explain/basis.ts';
import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import { RefusedError, TimelineClient, unreadable } from '../../api/timeline/timeline-client.ts';
import type { Received } from '../../api/timeline/timeline-client.ts';
import type { TimelineChange, TimelineItem } from '../../api/timeline/timeline-answer.ts';
import type { GapReason } from '../../api/timeline/timeline-message.ts';
import { messageOf } from '../../base/message-of.ts';
import { UserError } from '../../base/user-error.ts';
import type { CommandContext } from '../command-context.ts';
import { subjectName } from '../explain/subject-argument.ts';
import { ChangePrinter } from '../output/change-printer.ts';
import { printNote } from '../output/print.ts';
import type { PrintOptions } from '../output/print.ts';
import type { DebugEndpoints } from '../ui/debug-endpoints.ts';
import { openEvents } from './open-events.ts';
import { timelineColumns } from './timeline-columns.ts';
import { TimelineItems } from './timeline-items.ts';

export interface FollowOptions {
  readonly endpoints: DebugEndpoints;
  /** Where to begin. */
  readonly timeline: ClientTimeline;
  /** Which items to print. */
  readonly isWanted: (item: TimelineItem) => boolean;
  readonly showsNamespace: boolean;
  readonly print: PrintOptions;
}

const gapTexts: Readonly<Record<GapReason, string>> = {
  NewLeader: 'Another scheduler leads now, or it has restarted. What happened before it began to lead may be missing.',
  SlowClient: 'This command was too slow, and has read the timeline again.',
  TooOld: 'The connection was lost for so long that events are missing.',
  Unknown: 'Events may be missing.',
};

/** Prints what has happened and then what happens, until the signal aborts. A lost connection and a change of the leader do not end it. */
export async function followTimeline(options: FollowOptions, context: CommandContext): Promise<void> {
  const { endpoints, timeline } = options;
  const { clock, random, interruption } = context;
  const printer = new FollowPrinter(options, context);
  printer.show({ timeline, connection: { kind: 'live' }, receivedAt: 0 });
  const client = new TimelineClient({
    open: (lastEventId, signal) => openEvents(endpoints, lastEventId, signal).catch(refused),
    ...{ clock, random, timeline },
    onChange: (received) => printer.show(received),
  });
  await client.run(interruption.signal);
}

/** The user must see why the scheduler cannot be reached. */
function refused(error: unknown): never {
  throw error instanceof UserError ? new RefusedError(messageOf(error), { cause: error }) : error;
}

class FollowPrinter {
  readonly #options: FollowOptions;
  readonly #context: CommandContext;
  readonly #printer: ChangePrinter<TimelineChange, TimelineItem>;
  readonly #items = new TimelineItems();
  #before: Received | undefined;
  /** Attempts to connect that failed since the last message. */
  #failures = 0;
  #isUnreadable = false;

  constructor(options: FollowOptions, context: CommandContext) {
    this.#options = options;
    this.#context = context;
    const columns = timelineColumns(options.showsNamespace);
    this.#printer = new ChangePrinter(
      {
        ...options.print,
        columns: () => columns,
        rowsOf: (change) => (change.type === 'Gap' ? [] : [change.item]),
        nameOf: (change) => (change.type === 'Gap' ? '' : subjectName(change.item.subject)),
      },
      context,
    );
  }

  show(received: Received): void {
    const { timeline, connection } = received;
    if (connection.kind === 'lost') {
      // Streams end from time to time, and the next one follows at once. Only an outage is worth a word, and once what cannot be read.
      const isNew = connection.why === unreadable ? !this.#isUnreadable : ++this.#failures === 2;
      this.#isUnreadable ||= connection.why === unreadable;
      if (isNew) printNote(`cannot follow the timeline, trying again: ${connection.why}`, this.#context);
      return;
    }
    this.#failures = 0;
    const before = this.#before;
    this.#before = received;
    if (timeline.status !== 'current') return;
    if (before !== undefined && (before.timeline.status === 'outdated' || before.timeline.epoch !== timeline.epoch))
      this.#showGap(timeline.gap ?? 'Unknown');
    if (!timeline.isLeading && before?.timeline.isLeading !== false)
      printNote('The scheduler that answers does not lead, so it records nothing.', this.#context);
    const items = this.#items.take(timeline).filter(this.#options.isWanted);
    this.#printer.print(
      items.map((item) => ({ apiVersion: explainApiVersion, kind: 'TimelineChange', type: 'Transition', item })),
    );
  }

  #showGap(reason: GapReason): void {
    printNote(gapTexts[reason] ?? gapTexts.Unknown, this.#context);
    const { output } = this.#options.print;
    if (output !== 'json' && output !== 'yaml') return;
    this.#printer.print([{ apiVersion: explainApiVersion, kind: 'TimelineChange', type: 'Gap', reason }]);
  }
}
