import type { GapReason } from '../api/timeline/timeline-message.ts';
import { Announcer } from './announcer.ts';
import { byId, setText } from './element.ts';
import { summaryOf } from './summary.ts';
import { clockTime } from './time-scale.ts';
import type { Received } from '../api/timeline/timeline-client.ts';

/** The line above the lanes, and what a screen reader says by itself. They show what was received last, also while the lanes are paused. */
export class PageHeader {
  readonly #connection = byId('connection', HTMLElement);
  readonly #now = byId('now', HTMLElement);
  readonly #summary = byId('summary', HTMLElement);
  readonly #announcements = byId('announcements', HTMLElement);
  readonly #announcer = new Announcer();
  #summarized: Received['timeline'] | undefined;

  /** `now`: the scheduler's time. `pausedAt`: the one that the lanes show, if they are paused. */
  show({ timeline, connection }: Received, now: number, pausedAt: number | undefined): void {
    this.#connection.className = `connection ${connection.kind}`;
    setText(this.#connection, connectionText({ timeline, connection }, pausedAt !== undefined));
    setText(this.#now, timeline.now === 0 ? '--:--:--' : clockTime(pausedAt ?? now));
    if (timeline !== this.#summarized && timeline.status !== 'empty') {
      this.#summarized = timeline;
      const gap = timeline.gap === undefined ? '' : ` Earlier transitions are not here: ${gaps[timeline.gap]}.`;
      this.#summary.replaceChildren(...summaryOf(timeline), '.', gap);
    }
    const news = this.#announcer.news(timeline, connection, now);
    if (news.length > 0) this.#announcements.textContent = news.join(' ');
  }
}

function connectionText(
  { timeline, connection }: Pick<Received, 'timeline' | 'connection'>,
  isPaused: boolean,
): string {
  switch (connection.kind) {
    case 'connecting':
      return 'Connecting';
    case 'live':
      return `Live${timeline.isLeading ? '' : ', but this scheduler does not lead'}${isPaused ? ', paused' : ''}`;
    case 'lost':
      return `Disconnected: ${connection.why}`;
  }
}

const gaps: Readonly<Record<GapReason, string>> = {
  NewLeader: 'another scheduler leads now, or it has started again',
  SlowClient: 'this page was too slow',
  TooOld: 'the connection was lost for too long',
  Unknown: 'the reason is unknown',
};
