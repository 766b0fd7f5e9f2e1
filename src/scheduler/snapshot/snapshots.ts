import type { Assignment, Subject } from '../../api/explain/basis.ts';
import type { NotComparable, SnapshotEntity, SnapshotPlan } from '../../api/explain/snapshot.ts';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/message-of.ts';
import { safeMessage } from '../../base/safe-text.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import { describeRejection, noDiagnosis } from '../cycle/rejection.ts';
import type { Parts } from '../explain/explainer.ts';
import { shownVerdict } from '../explain/entity-summary.ts';
import { podSubject, subjectOfGroup } from '../explain/subjects.ts';
import { notReadyMessage } from '../verdicts/not-ready-verdicts.ts';
import { demandOf } from '../placement/planning/demand.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import type { Profiles } from '../profiles.ts';
import { SnapshotEncoder } from './snapshot-encoder.ts';
import type { SnapshotSource } from './snapshot-source.ts';

export interface SnapshotsOptions {
  readonly cluster: Cluster;
  readonly queue: Pick<SchedulingQueue, 'entities' | 'inOrder'>;
  readonly profiles: Pick<Profiles, 'of'>;
  readonly dryRuns: DryRuns;
  readonly clock: Clock;
  /** Orders equal nodes. */
  readonly seed: number;
  /** Returns the verdict of this process; undefined: it has given none. */
  readonly verdictOf: (uid: string) => Verdict | undefined;
  /** Returns whether an attempt of these members depends on what a snapshot does not hold. */
  readonly needsMemory: (entity: SchedulingEntity) => boolean;
}

/** Node checks for the plans of one snapshot, about a fifth of a second. Attempts wait meanwhile. */
const maxWork = 1_000_000;

class WorkUsedUpError extends Error {
  override readonly name = 'WorkUsedUpError';
}

/** Takes snapshots of what the scheduler knows. It changes nothing. */
export class Snapshots {
  readonly #options: SnapshotsOptions;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /**
   * Takes a snapshot in one part, so that everything in it is of one state of the cluster: copies of the lists, and new plans of what waits,
   * until their work is used up. `work`: how much work they may do.
   */
  *take(work = maxWork): Parts<SnapshotSource> {
    let source: SnapshotSource | undefined;
    yield function* (this: Snapshots, budget: WorkBudget): Yielding<void> {
      source = yield* this.#steps(work, budget);
    }.bind(this);
    return source!;
  }

  *#steps(work: number, budget: WorkBudget): Yielding<SnapshotSource> {
    const { cluster, queue, clock, seed } = this.#options;
    const takenAt = clock.now();
    const ready = queue.inOrder();
    const gated = [...queue.entities()].filter(({ state }) => state.kind === 'gated');
    const entities = [...ready, ...gated].map((entity) => this.#entity(entity));
    // The cluster cache does not change until the part ends. Its objects never do, so they can be encoded later.
    const lists = {
      nodes: cluster.nodes.map(({ node }) => node),
      pods: [...cluster.pods()],
      assumptions: new Map(cluster.assumptions()),
      groups: Array.from(cluster.gangs(), ({ spec }) => spec).filter((spec) => spec !== undefined),
      groupLives: Array.from(cluster.gangs(), ({ key, life: { started, hasEnded } }) => ({
        key,
        started,
        hasEnded,
      })).filter(({ started, hasEnded }) => started || hasEnded),
      objects: [...cluster.listed.all()],
      reservations: [...cluster.reservations()],
    };
    // The copies have taken their share of a turn.
    if (budget.isLimited) yield;
    let left = work;
    const spend = (steps: number): void => {
      left -= steps;
      if (left < 0) throw new WorkUsedUpError();
    };
    const plans: (SnapshotPlan | undefined)[] = [];
    for (const { schedulingEntity } of ready) {
      if (left < 0) break;
      plans.push(yield* this.#plan(schedulingEntity, budget, spend));
    }
    return {
      ...lists,
      takenAt,
      seed,
      entities: entities.map((entity, i) => (plans[i] === undefined ? entity : { ...entity, plan: plans[i] })),
      encoder: new SnapshotEncoder(cluster.resources),
    };
  }

  /**
   * Plans the entity on the state of the cluster alone: nodes on which bindings have failed, or that have not admitted similar pods, may take it. Returns undefined if nothing of it is to be placed, or the work is used up.
   */
  *#plan(
    schedulingEntity: SchedulingEntity,
    budget: WorkBudget,
    spend: (steps: number) => void,
  ): Yielding<SnapshotPlan | undefined> {
    const { cluster, dryRuns, profiles } = this.#options;
    const { members, needed } = demandOf(cluster, schedulingEntity);
    if (needed === 0 || members.length === 0) return undefined;
    const profile = profiles.of(schedulingEntity);
    try {
      const dryRun = yield* dryRuns.steps(profile, schedulingEntity, {}, budget, spend);
      const assignments: readonly Assignment[] = dryRun.plan.map(({ pod, nodeName }) => ({
        member: pod.name,
        node: nodeName,
      }));
      if (dryRun.fits) return { fits: true, assignments };
      const diagnosis = dryRun.blocked ?? noDiagnosis(members[0]!);
      const message = describeRejection(schedulingEntity, diagnosis, assignments.length, needed);
      return { fits: false, assignments, message: safeMessage(message) };
    } catch (error) {
      if (error instanceof WorkUsedUpError) return undefined;
      return { fits: false, assignments: [], message: safeMessage(messageOf(error)) };
    }
  }

  #entity(entity: QueuedEntity): SnapshotEntity {
    const { key, schedulingEntity, state, sortKey, readySince, since, attempts, rejection } = entity;
    const { clock, verdictOf } = this.#options;
    const pod = firstOf(schedulingEntity);
    const ofProcess = pod && verdictOf(pod.uid);
    const shown = pod && shownVerdict(pod);
    const verdict = ofProcess ?? (shown && { ...shown, waitsFor: 'unknown' as const });
    const gate = state.kind === 'gated' ? safeMessage(state.status.message) : undefined;
    const notComparable = verdict && this.#notComparable(entity, ofProcess);
    return {
      key,
      subject: subjectOf(schedulingEntity),
      state: state.kind,
      ...(state.kind === 'backoff' && {
        until: new Date(clock.now() + state.until - clock.monotonic()).toISOString(),
      }),
      priority: sortKey.priority,
      incomplete: sortKey.incomplete,
      sortedBy: sortKey.readySince,
      ...(readySince !== undefined && { readySince }),
      since,
      attempts,
      rejectedBy: [...rejection.unschedulablePlugins],
      ...(gate !== undefined && { gate }),
      ...(verdict !== undefined && {
        verdict: { reason: verdict.reason, message: verdict.message, waitsFor: verdict.waitsFor },
      }),
      ...(notComparable !== undefined && { notComparable }),
    };
  }

  #notComparable(
    { schedulingEntity, state, verdictAt }: QueuedEntity,
    verdict: Verdict | undefined,
  ): NotComparable | undefined {
    const { cluster, needsMemory } = this.#options;
    if (verdict === undefined) return 'source';
    // It gets a new verdict only after it has not changed for a while.
    if (state.kind === 'gated') return verdict.message === notReadyMessage(state.status) ? undefined : 'changed';
    if (state.kind !== 'unschedulable') return 'retrying';
    if (verdictAt !== cluster.changes) return 'changed';
    return needsMemory(schedulingEntity) ? 'memory' : undefined;
  }
}

function firstOf(schedulingEntity: SchedulingEntity): Pod | undefined {
  if (schedulingEntity.kind === 'pod') return schedulingEntity.pod;
  return [...schedulingEntity.gang.pending.values()].sort((a, b) => (a.uid < b.uid ? -1 : 1))[0];
}

function subjectOf(schedulingEntity: SchedulingEntity): Subject {
  if (schedulingEntity.kind === 'pod') return podSubject(schedulingEntity.pod);
  const { key, spec } = schedulingEntity.gang;
  return subjectOfGroup(key, spec?.uid);
}
