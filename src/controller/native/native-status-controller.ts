import { mergeConditions } from '../../api/condition.ts';
import type { Condition, ConditionState } from '../../api/condition.ts';
import type { NativePodGroup } from '../../api/native-pod-group.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { isAccessProblem } from '../../client/api-access-log.ts';
import { ConflictError, NotFoundError } from '../../client/api-errors.ts';
import type { InformerHandler } from '../../informer/informer-handler.ts';
import { describeError } from '../../observability/logger.ts';
import type { Logger } from '../../observability/logger.ts';
import { deriveInitiallyScheduled } from './initially-scheduled.ts';
import type { MemberPod } from '../member-pod.ts';
import type { PodGroupControllerMetrics, ReconcileResult } from '../pod-group-controller-metrics.ts';
import { WorkQueue } from '../work-queue/work-queue.ts';

/** Read access to the PodGroups of `scheduling.k8s.io` and the pods that name them; for the keys, see `groupKeyOf`. */
export interface NativePodGroupLookup {
  groups(): Iterable<NativePodGroup>;
  /** Returns undefined if the group does not exist, or the API server does not serve the kind now. */
  group(key: string): NativePodGroup | undefined;
  /** Returns the pods with the group in spec.schedulingGroup, in any order. */
  membersOf(key: string): Iterable<MemberPod>;
}

export interface NativeConditionWriter {
  /**
   * Writes the condition and nothing else, unless the group has changed since `group` was read. Rejects with ConflictError if it has
   * changed, with NotFoundError if it no longer exists.
   */
  writeCondition(group: NativePodGroup, condition: Condition, signal: AbortSignal): Promise<void>;
}

export interface NativeStatusControllerOptions {
  readonly lookup: NativePodGroupLookup;
  readonly writer: NativeConditionWriter;
  /** spec.schedulerName of the pods that Tutti schedules. A group with another pod gets no condition. */
  readonly schedulerNames: ReadonlySet<string>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Pick<PodGroupControllerMetrics, 'queue' | 'observe'>;
  /** As in PodGroupControllerOptions. */
  readonly workers?: number;
  readonly settleMs?: number;
}

/** Time until a group is looked at again that the API server did not find: it is gone, or the kind has moved to another version. */
const lookAgainMs = 1_000;
/** How long after a Binding others of its gang may follow. */
const bindingMs = 10_000;

/**
 * Writes the condition PodGroupInitiallyScheduled of `scheduling.k8s.io` PodGroups, as `deriveInitiallyScheduled` returns it, and no other
 * field. The condition stays True, whichever component has written it. A False one is written again only if what is derived has changed
 * since this process last wrote it or found it. If another component changes it in the meantime, its version stays: two writers never
 * alternate.
 */
export class NativeStatusController {
  readonly #options: NativeStatusControllerOptions;
  readonly #queue: WorkQueue;
  readonly #settleMs: number;
  /** group key -> what was last written or found, and the uid of that group */
  readonly #settled = new Map<string, { readonly uid: string; readonly condition: ConditionState }>();
  #started = false;
  #groupsSynced = false;
  #membersSynced = false;
  /** The members are listed again: those of other schedulers may be missing. */
  #isListing = false;

  readonly groupHandler: InformerHandler<NativePodGroup> = {
    onAdd: (group) => this.#changed(group.key),
    onUpdate: (_previous, group) => this.#changed(group.key),
    onDelete: ({ key }) => void this.#settled.delete(key),
    onSynced: () => {
      this.#groupsSynced = true;
      this.#begin();
    },
    // While the kind was not served, no group was reconciled.
    onReplaced: () => this.#allChanged(),
  };

  readonly memberHandler: InformerHandler<MemberPod> = {
    onAdd: ({ nativeGroupKey }) => this.#changed(nativeGroupKey),
    onUpdate: (_previous, { nativeGroupKey }) => this.#changed(nativeGroupKey),
    onDelete: ({ nativeGroupKey }) => this.#changed(nativeGroupKey),
    onSynced: () => {
      this.#membersSynced = true;
      this.#begin();
    },
    onListing: () => void (this.#isListing = true),
    onReplaced: () => {
      this.#isListing = false;
      this.#allChanged();
    },
  };

  constructor(options: NativeStatusControllerOptions) {
    const { clock, random, logger, metrics, workers = 4, settleMs = 100 } = options;
    this.#options = options;
    this.#settleMs = settleMs;
    this.#queue = new WorkQueue({
      name: 'native-podgroup',
      ...{ clock, random, workers },
      backoff: { initialMs: 100, maxMs: 30_000 },
      process: (key, signal) => this.#process(key, signal),
      onRetry: ({ key, error, failures, delayMs }) => {
        const fields = { podGroup: key, failures, delayMs, error: describeError(error) };
        const isExpected = error instanceof ConflictError || isAccessProblem(error);
        logger[isExpected ? 'debug' : 'warn']('cannot write the condition of a PodGroup', fields);
      },
      metrics: metrics.queue,
    });
  }

  start(): void {
    this.#started = true;
    this.#begin();
  }

  /** Stops all writes. Resolves when none is in flight. */
  stop(): Promise<void> {
    return this.#queue.stop();
  }

  get #isWorking(): boolean {
    return this.#started && this.#groupsSynced && this.#membersSynced;
  }

  #begin(): void {
    if (!this.#isWorking) return;
    this.#allChanged();
    this.#queue.start();
  }

  #allChanged(): void {
    for (const { key } of this.#options.lookup.groups()) this.#changed(key);
  }

  #changed(key: string | undefined): void {
    if (key !== undefined && this.#isWorking) this.#queue.add(key, this.#settleMs);
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    if (this.#isListing) return; // `onReplaced` adds it again
    await this.#options.metrics.observe(() => this.#reconcile(key, signal));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { clock, lookup, logger, schedulerNames, writer } = this.#options;
    const group = lookup.group(key);
    if (group === undefined) return 'gone';
    const { uid, scheduled: present } = group;
    if (present?.status === 'True') return 'unchanged';
    const pods = [...lookup.membersOf(key)];
    const boundAt = pods.reduce((latest, { podScheduled }) => Math.max(latest, podScheduled?.since ?? 0), 0);
    const isBinding = clock.now() - boundAt < bindingMs;
    const derived = deriveInitiallyScheduled(group, pods, schedulerNames, isBinding);
    if (derived === undefined) {
      if (isBinding) this.#queue.add(key, bindingMs);
      return 'unchanged';
    }
    // The scheduler takes True as proof for members that were bound by then. The API server, whose clock may be ahead, dates the Bindings.
    const at = Math.max(boundAt, clock.now());
    const [condition] = mergeConditions(present === undefined ? [] : [present], [derived], at);
    const settled = this.#settled.get(key);
    if (settled?.uid === uid && isSame(settled.condition, condition!)) return 'unchanged';
    const isWritten = present !== undefined && isSame(present, condition!);
    if (!isWritten) {
      await writer.writeCondition(group, condition!, signal).catch((error: unknown) => {
        if (error instanceof NotFoundError) this.#queue.add(key, lookAgainMs);
        throw error;
      });
    }
    // The watch may have reported the deletion in the meantime; then there is nothing to remember.
    if (lookup.group(key)?.uid === uid) this.#settled.set(key, { uid, condition: condition! });
    if (isWritten) return 'unchanged';
    if (derived.status === 'True') logger.info('PodGroup scheduled', { podGroup: key });
    return 'patched';
  }
}

function isSame(a: ConditionState, b: ConditionState): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
