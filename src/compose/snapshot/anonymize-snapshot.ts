import { randomInt } from 'node:crypto';
import type { Snapshot, SnapshotEntity, SnapshotTies } from '../../api/explain/snapshot.ts';
import type { ReplayItem } from '../../api/explain/snapshot-replay.ts';
import { safeMessage } from '../../base/safe-text.ts';
import { hashText } from '../../base/hash-text.ts';
import { WorkBudget } from '../../base/work-budget.ts';
import { finish } from '../../base/yielding.ts';
import type { SchedulerCore } from '../../scheduler/scheduler-core.ts';
import { demandOf } from '../../scheduler/placement/planning/demand.ts';
import { podClassesOf } from '../../scheduler/placement/planning/pod-classes.ts';
import { renameSnapshot } from './anonymize/rename-snapshot.ts';
import type { Rename } from './anonymize/renaming.ts';
import { knownFields } from './known-fields.ts';
import { openSnapshot } from './open-snapshot.ts';
import type { OpenSnapshot } from './open-snapshot.ts';
import { replaySnapshot, replayedVerdict } from './replay-snapshot.ts';
import { snapshotSchema } from './snapshot-file.ts';

export interface AnonymizedSnapshot {
  readonly snapshot: Snapshot;
  /** Number of plans that choose other nodes than before, or another number of members. */
  readonly changedPlans: number;
}

/**
 * Replaces the names in a snapshot and keeps what plans depend on. Fields that a later version has added are left out. Messages contain names, so they are composed again; one that cannot be, because a
 * replay contradicts it or it describes another state of the cluster, is left out.
 */
export function anonymizeSnapshot(given: Snapshot): AnonymizedSnapshot {
  const original = knownFields(given, snapshotSchema()) as Snapshot;
  const clock = { now: () => Date.parse(original.takenAt) };
  const open = openSnapshot(original, clock);
  const { snapshot: renamed, rename } = renameSnapshot(original);
  const withTies = { ...renamed, seed: 0, ties: tiesOf(open, rename) };
  const items = replaySnapshot(open).items;
  const anonymous = openSnapshot(withTies, clock);
  const plans = new Map(anonymous.core.takeSnapshotNow().entities.map(({ key, plan }) => [key, plan]));
  let changedPlans = 0;
  const queue = withTies.queue.map((entity, index): SnapshotEntity => {
    const { plan: isSame, verdict } = items[index]!;
    const plan = plans.get(entity.key);
    const mayCompose = isSame === 'same' && plan !== undefined;
    if (
      mayCompose &&
      JSON.stringify([plan.fits, plan.assignments]) !== JSON.stringify([entity.plan!.fits, entity.plan!.assignments])
    )
      changedPlans++;
    return {
      ...entity,
      ...(mayCompose && { plan }),
      ...gateOf(entity, anonymous.core, items[index]!),
      ...(verdict === 'same' && { verdict: replayedVerdict(entity, anonymous) }),
    };
  });
  return { snapshot: { ...withTies, queue }, changedPlans };
}

function gateOf(
  { key, gate }: SnapshotEntity,
  { queue }: SchedulerCore,
  { differences }: ReplayItem,
): { readonly gate?: string } {
  const state = queue.get(key)?.state;
  if (gate === undefined || state?.kind !== 'gated' || differences.some(({ field }) => field === 'gate')) return {};
  return { gate: safeMessage(state.status.message) };
}

/**
 * Returns the numbers that break ties, by the new names. Hashes of names could be guessed, so they are combined with a random number that is then
 * forgotten; the order among nodes stays the same.
 */
function tiesOf({ core, snapshot }: OpenSnapshot, rename: Rename): SnapshotTies {
  const { cluster, profiles, queue } = core;
  const mask = randomInt(2 ** 32);
  const byHash = [...cluster.nodes].sort((a, b) => a.nameRank - b.nameRank || (a.name < b.name ? -1 : 1));
  /** uid -> text of the pod's class */
  const texts = new Map<string, string>();
  for (const { schedulingEntity, state } of queue.entities()) {
    if (state.kind === 'gated') continue;
    const { members, needed } = demandOf(cluster, schedulingEntity);
    const profile = profiles.of(schedulingEntity);
    const request = { profile, members, needed, groupState: undefined };
    for (const { pods, text } of finish(podClassesOf(cluster, request, new WorkBudget())))
      for (const { uid } of pods) texts.set(uid, text);
  }
  const ranks = new Map([...new Set(texts.values())].sort().map((text, rank) => [text, rank]));
  const salt = (text: string): number => (hashText(`${snapshot.seed} ${text}`) ^ mask) >>> 0;
  return {
    nodes: Object.fromEntries(
      byHash.map(({ name, nameHash }, rank) => [rename('node', name), { hash: (nameHash ^ mask) >>> 0, rank }]),
    ),
    pods: Object.fromEntries(
      [...texts].map(([uid, text]) => [rename('uid', uid), { salt: salt(text), rank: ranks.get(text)! }]),
    ),
  };
}
