import { explainApiVersion } from '../../api/explain/basis.ts';
import type { SnapshotEntity, SnapshotPlan } from '../../api/explain/snapshot.ts';
import type { ReplayDifference, ReplayItem, SnapshotReplay } from '../../api/explain/snapshot-replay.ts';
import { safeVerdict } from '../../api/verdict.ts';
import { messageOf } from '../../base/message-of.ts';
import { safeMessage } from '../../base/safe-text.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { notReadyKindOf, notReadyMessage } from '../../scheduler/verdicts/not-ready-verdicts.ts';
import type { SchedulerCore } from '../../scheduler/scheduler-core.ts';
import type { OpenSnapshot } from './open-snapshot.ts';

/** Depends on who else waits at the moment of the attempt. */
const firstInLine = / It is first in line for [^ ]+( slots)?\./;

/**
 * Plans and attempts each entity of a snapshot again, or those that `isWanted` accepts, and compares the results word by word with those in the
 * snapshot. A verdict that was found on another state of the cluster is not compared; the item says why.
 */
export function replaySnapshot(
  open: OpenSnapshot,
  isWanted: (entity: SnapshotEntity) => boolean = () => true,
): SnapshotReplay {
  const { core, snapshot, basis, errors, clock } = open;
  /** key -> plan of now */
  const plans = new Map(core.takeSnapshotNow().entities.map(({ key, plan }) => [key, plan]));
  const items = snapshot.queue.filter(isWanted).map((entity): ReplayItem => {
    clock.rest();
    const ofPlan = entity.plan === undefined ? undefined : comparePlans(entity.plan, plans.get(entity.key));
    const { verdict, differences: ofVerdict } = compareVerdicts(entity, core);
    const ofGate = entity.gate === undefined ? [] : differencesOf([['gate', entity.gate, gateOf(entity.key, core)]]);
    return {
      subject: entity.subject,
      plan: ofPlan === undefined ? 'none' : ofPlan.length === 0 ? 'same' : 'differs',
      verdict,
      differences: [...(ofPlan ?? []), ...ofGate, ...ofVerdict],
    };
  });
  const { tuttiVersion: takenBy } = snapshot;
  return { apiVersion: explainApiVersion, kind: 'SnapshotReplay', basis, takenBy, items, errors };
}

function comparePlans(recorded: SnapshotPlan, replayed: SnapshotPlan | undefined): readonly ReplayDifference[] {
  const rows = ({ assignments }: SnapshotPlan): string =>
    assignments.map(({ member, node }) => `${member} -> ${node}`).join('\n');
  return differencesOf([
    ['plan.fits', String(recorded.fits), replayed === undefined ? 'not planned' : String(replayed.fits)],
    ['plan.assignments', rows(recorded), replayed === undefined ? '' : rows(replayed)],
    ['plan.message', recorded.message ?? '', replayed?.message ?? ''],
  ]);
}

function compareVerdicts(
  { key, verdict: recorded, notComparable }: SnapshotEntity,
  core: SchedulerCore,
): Pick<ReplayItem, 'verdict' | 'differences'> {
  if (recorded === undefined) return { verdict: 'none', differences: [] };
  if (notComparable !== undefined) return { verdict: notComparable, differences: [] };
  const replayed = verdictOf(key, core);
  const differences = differencesOf([
    ['reason', recorded.reason, replayed.reason],
    ['message', recorded.message.replace(firstInLine, ''), replayed.message.replace(firstInLine, '')],
    ['waitsFor', recorded.waitsFor, replayed.waitsFor],
  ]);
  if (differences.length === 0) return { verdict: 'same', differences };
  // The check whether it could ever fit has limits over time, so the scheduler may have skipped it.
  const isSkipped =
    recorded.waitsFor === 'unknown' && replayed.waitsFor !== 'unknown' && replayed.reason === recorded.reason;
  if (isSkipped && replayed.message.startsWith(recorded.message)) return { verdict: 'workLimit', differences: [] };
  return { verdict: 'differs', differences };
}

/** Returns why the entity is not ready; empty: it is, or does not wait. */
function gateOf(key: string, { queue }: SchedulerCore): string {
  const state = queue.get(key)?.state;
  return state?.kind === 'gated' ? safeMessage(state.status.message) : '';
}

function verdictOf(key: string, core: SchedulerCore): Readonly<Record<'reason' | 'message' | 'waitsFor', string>> {
  const none = { reason: '', waitsFor: '' };
  const entity = core.queue.get(key);
  if (entity?.state.kind === 'gated') {
    const gang = gangOf(entity.schedulingEntity, core);
    return { ...none, ...(gang && notReadyKindOf(gang)), message: notReadyMessage(entity.state.status) };
  }
  try {
    const result = core.retrace(key);
    if (result === undefined) return { ...none, message: 'It does not wait.' };
    switch (result.kind) {
      case 'rejected':
        return safeVerdict(result.verdict);
      case 'planned':
        return { ...none, message: 'It would be scheduled.' };
      default:
        return { ...none, message: `The attempt ends with: ${result.kind}.` };
    }
  } catch (error) {
    return { ...none, message: messageOf(error) };
  }
}

/** Returns the verdict that an attempt gives now. */
export function replayedVerdict(
  { key }: SnapshotEntity,
  { core, clock }: OpenSnapshot,
): NonNullable<SnapshotEntity['verdict']> {
  clock.rest();
  const { reason, message, waitsFor } = verdictOf(key, core) as NonNullable<SnapshotEntity['verdict']>;
  return { reason, message, waitsFor };
}

function gangOf(schedulingEntity: SchedulingEntity, { cluster }: SchedulerCore): GangView | undefined {
  if (schedulingEntity.kind === 'gang') return schedulingEntity.gang;
  return cluster.gang(schedulingEntity.pod.podGroupKey ?? '');
}

function differencesOf(
  rows: readonly (readonly [ReplayDifference['field'], recorded: string, replayed: string])[],
): readonly ReplayDifference[] {
  return rows
    .filter(([, recorded, replayed]) => recorded !== replayed)
    .map(([field, recorded, replayed]) => ({ field, recorded, replayed }));
}

/** Returns whether a replay has found a difference. */
export function differs({ items }: SnapshotReplay): boolean {
  return items.some(({ differences }) => differences.length > 0);
}
