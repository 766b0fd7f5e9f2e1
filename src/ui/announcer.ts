import type { ClientTimeline } from '../api/timeline/client-timeline.ts';
import { countsText, nameByKey } from './describe.ts';
import type { Connection } from '../api/timeline/timeline-client.ts';

/** A group that is being bound member by member is partially bound for moments. That is no news. */
const settledMs = 2_000;

/** Decides what a screen reader says by itself: that a group stays partially bound, and that the connection is lost or back. */
export class Announcer {
  /** Keys of the groups that were announced, and are still partially bound. */
  readonly #announced = new Set<string>();
  #wasLost = false;

  /** Returns what is new, in sentences. `now` is the scheduler's time. */
  news(
    { entities, transitions }: Pick<ClientTimeline, 'entities' | 'transitions'>,
    connection: Connection,
    now: number,
  ): readonly string[] {
    const news: string[] = [];
    const isLost = connection.kind === 'lost';
    if (isLost && !this.#wasLost) news.push('The connection to the scheduler is lost.');
    if (connection.kind === 'live' && this.#wasLost) news.push('Connected again.');
    if (connection.kind !== 'connecting') this.#wasLost = isLost;
    for (const key of this.#announced) if (entities.get(key)?.state !== 'Partial') this.#announced.delete(key);
    const partial = [...entities.values()].filter(({ key, state }) => state === 'Partial' && !this.#announced.has(key));
    for (const entity of partial) {
      const since = transitions.findLast(({ entity: of, state }) => of === entity.key && state !== 'Partial');
      const first = transitions.find(
        ({ entity: of, sequence }) => of === entity.key && sequence > (since?.sequence ?? -1),
      );
      if (first !== undefined && now - first.time < settledMs) continue;
      this.#announced.add(entity.key);
      news.push(`${nameByKey(entities, entity.key)} is partially bound: ${countsText(entity)}.`);
    }
    return news;
  }
}
