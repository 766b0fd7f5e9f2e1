import type { Condition } from '../api/condition.ts';
import { describeMislabeledWorkload } from '../api/mislabeled-workload.ts';
import { isBoundForAnother } from '../api/pod.ts';
import { hasStarted, podGroupPhaseOf } from '../api/pod-group.ts';
import type { PodGroup } from '../api/pod-group.ts';
import type { Clock } from '../base/clock.ts';
import { DueTimes } from '../base/due-times.ts';
import type { Random } from '../base/random.ts';
import { isAccessProblem } from '../client/api-access-log.ts';
import { ConflictError } from '../client/api-errors.ts';
import type { EventToRecord } from '../client/event-recorder.ts';
import type { InformerHandler } from '../informer/informer-handler.ts';
import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import { describeLookAlikes, labelMissingEvent, membersAbsentEvent } from './label-missing.ts';
import type { MemberPod } from './member-pod.ts';
import type { MislabeledWorkloads } from './mislabeled-workloads.ts';
import type { PodGroupControllerMetrics, ReconcileResult } from './pod-group-controller-metrics.ts';
import { derivePodGroupStatus, readConditions } from './pod-group-status.ts';
import type { DerivedStatus } from './pod-group-status.ts';
import { statusPatch } from './status-patch.ts';
import type { StatusPatch } from './status-patch.ts';
import { WorkQueue } from './work-queue/work-queue.ts';

/** Read access to the groups and their members; keys are namespace/name. */
export interface PodGroupLookup {
  groups(): Iterable<PodGroup>;
  group(key: string): PodGroup | undefined;
  /** Returns the pods that name the group, in any order. */
  membersOf(key: string): Iterable<MemberPod>;
  /** Returns the pods without a group of which a look-alike of the label names this group, in any order. */
  lookAlikesOf(key: string): Iterable<MemberPod>;
}

export interface PodGroupStatusWriter {
  /**
   * Writes the fields to the group's status, unless the group has changed since `group` was read, and returns the new group.
   * Rejects with ConflictError if it has changed, with NotFoundError if it no longer exists.
   */
  patchStatus(group: PodGroup, patch: StatusPatch, signal: AbortSignal): Promise<PodGroup>;
}

export interface EventSink {
  /** Never throws. An Event that cannot be written is lost. */
  record(event: EventToRecord): void;
}

export interface PodGroupControllerOptions {
  readonly lookup: PodGroupLookup;
  readonly writer: PodGroupStatusWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: PodGroupControllerMetrics;
  /** Absent: a group that lacks members names no workload that has its label. */
  readonly workloads?: Pick<MislabeledWorkloads, 'lacksMembers' | 'podChanged' | 'of'>;
  readonly events: EventSink;
  /** Maximum number of concurrent status writes. Default 4. */
  readonly workers?: number;
  /** The administrator's maximum for the grace period of a group. The scheduler must have the same. Default 5 minutes. */
  readonly maxRepairGraceMs?: number | undefined;
  /** How long changes of one group are batched before its status is derived, in milliseconds. Default 100. */
  readonly settleMs?: number;
}

/** How long no pod may name a group before an Event says so, in milliseconds. */
const absentMs = 10_000;

/**
 * Keeps the status of every PodGroup equal to the result of `derivePodGroupStatus`. Its two handlers report changes; it then
 * reads the group and all its members and writes only the fields that differ. It works once it has been started and both handlers
 * have synced, because an incomplete list would look like lost members. At first, and after each later list of the members, it reconciles every
 * group.
 */
export class PodGroupController {
  readonly #options: PodGroupControllerOptions;
  readonly #queue: WorkQueue;
  readonly #settleMs: number;
  /**
   * group key -> the group after our last write, and the versions that our writes replaced. Used while the lookup returns a
   * replaced version, so that no status is derived from a stale one.
   */
  readonly #written = new Map<string, { readonly replaced: Set<string>; readonly group: PodGroup }>();
  /**
   * group key -> uid of a group that has started, until that is written. If the write fails, the members that show it may be gone
   * before the next one.
   */
  readonly #seenStarted = new Map<string, string>();
  /** key of a group that no pod names -> its uid, due when an Event is to say so */
  readonly #unnamed: DueTimes<string, string>;
  #started = false;
  #groupsSynced = false;
  #membersSynced = false;
  /** The members are listed again: some are older than others. */
  #isListing = false;

  readonly groupHandler: InformerHandler<PodGroup> = {
    onAdd: (group) => this.changed(group.key),
    onUpdate: (_previous, group) => this.changed(group.key),
    onDelete: (last) => {
      this.#options.workloads?.lacksMembers(last.namespace, last.name, false);
      this.#written.delete(last.key);
      this.#unnamed.delete(last.key);
      this.#seenStarted.delete(last.key);
    },
    onSynced: () => {
      this.#groupsSynced = true;
      this.#begin();
    },
  };

  readonly memberHandler: InformerHandler<MemberPod> = {
    onAdd: (member) => this.#memberChanged(member, true),
    onUpdate: (previous, member) => {
      this.#memberChanged(previous);
      this.#memberChanged(member);
    },
    onDelete: (last) => this.#memberChanged(last, true),
    onSynced: () => {
      this.#membersSynced = true;
      this.#begin();
    },
    onListing: () => void (this.#isListing = true),
    onReplaced: () => {
      this.#isListing = false;
      for (const { key } of this.#options.lookup.groups()) this.changed(key);
    },
  };

  constructor(options: PodGroupControllerOptions) {
    this.#options = options;
    this.#settleMs = options.settleMs ?? 100;
    this.#unnamed = new DueTimes(options.clock, (key, uid) => this.#reportAbsent(key, uid));
    this.#queue = new WorkQueue({
      name: 'podgroup',
      clock: options.clock,
      random: options.random,
      workers: options.workers ?? 4,
      backoff: { initialMs: 100, maxMs: 30_000 },
      process: (key, signal) => this.#process(key, signal),
      onRetry: ({ key, error, failures, delayMs }) => {
        const fields = { podGroup: key, failures, delayMs, error: describeError(error) };
        // A conflict means that the cache is stale; the next reconciliation resolves it.
        if (error instanceof ConflictError) options.logger.debug('PodGroup changed during a status write', fields);
        else if (isAccessProblem(error)) options.logger.debug('cannot write PodGroup status', fields);
        else options.logger.warn('cannot write PodGroup status', fields);
      },
      metrics: options.metrics.queue,
    });
  }

  /** Whether both caches are synced and the workers run. */
  get isWorking(): boolean {
    return this.#started && this.#groupsSynced && this.#membersSynced;
  }

  start(): void {
    this.#started = true;
    this.#begin();
  }

  /** Stops all writes. Resolves when none is in flight. */
  stop(): Promise<void> {
    this.#unnamed.stop();
    return this.#queue.stop();
  }

  #begin(): void {
    if (!this.isWorking) return;
    for (const { key } of this.#options.lookup.groups()) this.#queue.add(key);
    this.#queue.start();
  }

  /** The group is to be reconciled. Changes that follow soon share the reconciliation. */
  changed(groupKey: string): void {
    if (this.isWorking) this.#queue.add(groupKey, this.#settleMs);
  }

  /** `comesOrGoes`: the pod was created or deleted. */
  #memberChanged({ groupKey, namespace, owners, lookAlikes }: MemberPod, comesOrGoes = false): void {
    if (groupKey !== undefined) {
      this.changed(groupKey);
      return;
    }
    for (const { name } of lookAlikes) this.changed(`${namespace}/${name}`);
    if (comesOrGoes && owners.length > 0 && this.isWorking) this.#options.workloads?.podChanged(namespace);
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    if (this.#isListing) return; // `onReplaced` adds it again
    await this.#options.metrics.observe(() => this.#reconcile(key, signal));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { clock, logger, lookup, writer } = this.#options;
    const known = lookup.group(key);
    if (known === undefined) return 'gone';
    const group = this.#newest(known);
    const named = [...lookup.membersOf(key)];
    const members = named.filter((member) => !isBoundForAnother(member, group.uid));
    const missingLabel = this.#missingLabel(group);
    const derived = derivePodGroupStatus(group, members, clock.now(), {
      seenStarted: this.#seenStarted.get(key) === group.uid,
      missingLabel,
      isUnnamed: named.length === 0,
      maxRepairGraceMs: this.#options.maxRepairGraceMs,
    });
    // Its members have ended before the start could be written.
    if (!hasStarted(derived)) this.#seenStarted.delete(key);
    this.#options.workloads?.lacksMembers(group.namespace, group.name, derived.phase === 'Pending');
    const patch = statusPatch(group.status, derived);
    if (patch === undefined) return 'unchanged';
    if (hasStarted(derived) && !hasStarted(group.status)) this.#seenStarted.set(key, group.uid);
    const after = await writer.patchStatus(group, patch, signal);
    this.#seenStarted.delete(key);
    const replaced = this.#written.get(key)?.replaced ?? new Set();
    this.#written.set(key, { replaced: replaced.add(group.resourceVersion), group: after });
    // The watch may have reported the deletion in the meantime; then there is nothing to remember.
    const current = lookup.group(key);
    if (current === undefined || !replaced.has(current.resourceVersion)) this.#written.delete(key);
    if (patch.phase !== undefined) {
      logger.info('PodGroup phase changed', { podGroup: key, from: group.status.phase ?? '', to: patch.phase });
    }
    if (missingLabel !== undefined) this.#reportMissingLabel(group, derived, missingLabel);
    else if (named.length === 0 && patch.conditions !== undefined)
      this.#unnamed.set(key, clock.monotonic() + absentMs, group.uid);
    return 'patched';
  }

  /** Records an Event if still no pod names the group, which a write has said for some time. Most pods follow their group sooner. */
  #reportAbsent(key: string, uid: string): void {
    const { clock, events, lookup } = this.#options;
    const group = lookup.group(key);
    if (group?.uid !== uid || !this.isWorking) return;
    if (this.#isListing) this.#unnamed.set(key, clock.monotonic() + absentMs, uid);
    else if (podGroupPhaseOf(group.status) === 'Pending' && !this.#isNamed(group))
      events.record(membersAbsentEvent(group));
  }

  /** Returns whether a pod names the group, or was meant to. */
  #isNamed(group: PodGroup): boolean {
    for (const _ of this.#options.lookup.membersOf(group.key)) return true;
    return this.#missingLabel(group) !== undefined;
  }

  /** Returns why the pods that were meant to be members may not be: the label is not on the pods themselves, or has another key. */
  #missingLabel({ key, namespace, name }: PodGroup): string | undefined {
    const { lookup, workloads } = this.#options;
    const mislabeled = workloads?.of(namespace, name);
    if (mislabeled !== undefined) return describeMislabeledWorkload(mislabeled);
    const meant = [...lookup.lookAlikesOf(key)].filter((pod) => this.#groupMeantBy(pod) === key);
    return describeLookAlikes(meant, name);
  }

  /** Returns the first existing group among the look-alikes of a pod, so that one pod leads to at most one Event. */
  #groupMeantBy({ namespace, lookAlikes }: MemberPod): string | undefined {
    const keys = lookAlikes.map(({ name }) => `${namespace}/${name}`);
    return keys.find((key) => this.#options.lookup.group(key) !== undefined);
  }

  /** Records an Event if the status named no missing label before. Users can change quickly which pods it names. */
  #reportMissingLabel(group: PodGroup, derived: DerivedStatus, missingLabel: string): void {
    const says = (conditions: readonly Condition[]): boolean =>
      conditions.some(({ reason }) => reason === 'LabelMissing');
    if (says(derived.conditions) && !says(readConditions(group.status)))
      this.#options.events.record(labelMissingEvent(group, missingLabel));
  }

  #newest(known: PodGroup): PodGroup {
    const written = this.#written.get(known.key);
    if (written?.replaced.has(known.resourceVersion)) return written.group;
    this.#written.delete(known.key);
    return known;
  }
}
