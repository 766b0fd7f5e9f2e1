import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { Rehearsed } from '../../scheduler/cycle/cycle-result.ts';
import type { SchedulerCore } from '../../scheduler/scheduler-core.ts';

/** Attempts of other entities. A longer queue would make the command take minutes. */
const maxOtherRehearsals = 5_000;

/**
 * Rehearses attempts in the order of the queue while an entity of interest is due. Passes each result to `see`. Returns false if it gave up,
 * because too many other entities come first.
 */
export function rehearseWhile(
  core: Pick<SchedulerCore, 'queue' | 'rehearse'>,
  isOfInterest: (entity: SchedulingEntity) => boolean,
  see: (rehearsed: Rehearsed) => void,
): boolean {
  for (let others = 0; others < maxOtherRehearsals;) {
    if (!hasDue(core.queue.entities(), isOfInterest)) return true;
    const rehearsed = core.rehearse();
    if (rehearsed === undefined) return true;
    see(rehearsed);
    if (!isOfInterest(rehearsed.schedulingEntity)) others++;
  }
  return false;
}

function hasDue(entities: Iterable<QueuedEntity>, isOfInterest: (entity: SchedulingEntity) => boolean): boolean {
  for (const { state, schedulingEntity } of entities) {
    const { kind } = state;
    if ((kind === 'active' || kind === 'backoff') && isOfInterest(schedulingEntity)) return true;
  }
  return false;
}
