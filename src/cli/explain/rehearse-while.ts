import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { Rehearsed } from '../../scheduler/cycle/cycle-result.ts';
import type { SchedulerCore } from '../../scheduler/scheduler-core.ts';

/** A longer queue would make the command take minutes. */
export const maxRehearsals = 5_000;

/**
 * Rehearses attempts in the order of the queue while an entity of interest is due. Passes each result to `see`. Returns false if it gave up
 * after `maxRehearsals` attempts.
 */
export function rehearseWhile(
  core: Pick<SchedulerCore, 'queue' | 'rehearse'>,
  isOfInterest: (entity: QueuedEntity) => boolean,
  see: (rehearsed: Rehearsed) => void,
): boolean {
  for (let count = 0; count < maxRehearsals; count++) {
    if (!hasDue(core.queue.entities(), isOfInterest)) return true;
    const rehearsed = core.rehearse();
    if (rehearsed === undefined) return true;
    see(rehearsed);
  }
  return false;
}

function hasDue(entities: Iterable<QueuedEntity>, isOfInterest: (entity: QueuedEntity) => boolean): boolean {
  for (const entity of entities) {
    const { kind } = entity.state;
    if ((kind === 'active' || kind === 'backoff') && isOfInterest(entity)) return true;
  }
  return false;
}
