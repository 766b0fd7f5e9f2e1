import type { Transition } from '../../api/timeline/transition.ts';
import type { Queueing } from '../../testkit/queueing.ts';

/** Returns the transitions of an entity that the scheduler holds, in order. */
export function transitionsOf({ harness }: Pick<Queueing, 'harness'>, entity: string): Transition[] {
  return [...harness.core.timeline.snapshot().transitions].filter((transition) => transition.entity === entity);
}

/**
 * The same as lines: `Bound Partial 1/2 on a`, `Rejected Waiting 0/2 ×3 capacity`. The numbers are bound members and minMember; those of a pod alone
 * are absent.
 */
export function timelineLines(core: Pick<Queueing, 'harness'>, entity: string): string[] {
  return transitionsOf(core, entity).map(({ kind, state, counts, count, node, waitsFor, by }) =>
    [
      `${kind} ${state}`,
      ...(counts === undefined ? [] : [`${counts.bound}/${counts.minMember ?? '?'}`]),
      ...(count === undefined ? [] : [`×${count}`]),
      ...(node === undefined ? [] : [`on ${node}`]),
      ...(waitsFor === undefined ? [] : [waitsFor]),
      ...(by === undefined ? [] : [`by ${by}`]),
    ].join(' '),
  );
}
