import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import { describeFirstInLine, describeShortage } from '../../framework/capacity-shortage.ts';
import { describeCause, failureIn, withoutNumbers } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import { namespaceOf } from '../../framework/names-for-users.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { FuturePlan } from '../backfill/start-search.ts';
import { predictedStartOf, reservedFor } from '../backfill/turn-texts.ts';
import type { Preemption } from '../preemption/preemptions.ts';
import { describeRejection } from './rejection.ts';
import type { WaitCause } from './wait-cause.ts';

/** What an attempt has found out about an entity that it rejects. */
export interface RejectionFindings {
  readonly schedulingEntity: SchedulingEntity;
  readonly diagnosis: Diagnosis;
  /** Members that would fit, and how many are needed. */
  readonly placed: number;
  readonly needed: number;
  readonly waitCause: WaitCause;
  readonly preemption: Preemption | undefined;
  /** Where and when the entity is predicted to start. */
  readonly future: FuturePlan | undefined;
  /** It is the first of those that are short of the same resource. */
  readonly isFirst: boolean;
  readonly clock: Pick<Clock, 'now'>;
  /** Returns what to add to the verdict of this group. */
  readonly noteOf: (gang: GangView) => string | undefined;
}

/**
 * Returns the verdict of the rejected entity, or of another one of its class, which shares the rejection. `pod`: the member that would not fit.
 */
export function verdictOfRejection(
  findings: RejectionFindings,
  of: SchedulingEntity,
  { pod }: { readonly pod: Pod },
): Verdict {
  const { schedulingEntity, diagnosis, placed, needed, waitCause, preemption, future, isFirst, clock } = findings;
  const { waitsFor, note: sharedNote, noteFor } = waitCause;
  const isBehind = waitsFor === 'turn' && future === undefined;
  const waitNote = noteFor?.(namespaceOf(of)) ?? sharedNote;
  const counted = waitNote !== undefined && (of.kind === 'gang' || isBehind) ? [waitNote] : [];
  if (future !== undefined) counted.push(reservedFor(future, clock.now()));
  // An entity that waits for its turn needs no victims.
  if (preemption !== undefined && !isBehind) counted.push(preemption.message);
  const notes: string[] = [];
  const note = of.kind === 'gang' ? findings.noteOf(of.gang) : undefined;
  if (note !== undefined) notes.push(note);
  const [shortage] = diagnosis.shortages ?? [];
  // It lacks nothing but its turn.
  const amounts = shortage === undefined || isBehind ? [] : [describeShortage(shortage)];
  if (of === schedulingEntity && isFirst) amounts.push(describeFirstInLine(shortage!));
  const rejection = describeRejection(of, { ...diagnosis, pod }, placed, needed);
  const isError = failureIn(diagnosis) !== undefined;
  const cause = describeCause(diagnosis);
  const sentences = [...counted.map(withoutNumbers), ...notes].join(' ');
  return {
    reason: isError ? 'SchedulerError' : isBehind ? 'WaitingForTurn' : 'Unschedulable',
    message: [rejection, ...amounts, ...counted, ...notes].join(' '),
    waitsFor: isBehind || waitsFor !== 'turn' ? waitsFor : 'capacity',
    ...(amounts.length > 0 && { shortOf: shortage!.resource }),
    ...(future !== undefined && { predictedStart: predictedStartOf(future) }),
    cause: sentences === '' ? cause : `${cause}. ${sentences}`,
  };
}
