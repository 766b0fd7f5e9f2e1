import type { Pod } from '../../api/pod.ts';
import { safeVerdict } from '../../api/verdict.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Logger } from '../../observability/logger.ts';
import { groupNotScheduled, notScheduled } from './events.ts';
import type { GangMetrics } from '../metrics/gang-metrics.ts';
import type { EventSink, VerdictSink } from '../ports.ts';
import { UnwrittenVerdicts } from './unwritten-verdicts.ts';

export interface VerdictsOptions {
  readonly sink: VerdictSink;
  readonly events: EventSink;
  readonly metrics: Pick<GangMetrics, 'verdictReached' | 'verdictWrittenAfter'>;
  readonly cluster: Pick<Cluster, 'openPod'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Once aborted, nothing is written any more. */
  readonly signal: AbortSignal;
}

/** The verdict that a pod should carry. */
interface PodVerdict {
  readonly verdict: Verdict;
  readonly isFirst: boolean;
  /** Clock.monotonic() of the report, or of the moment when new counts may be written. Retries keep it. */
  readonly since: number;
  /** The API server has the verdict, maybe with other counts. */
  isReported: boolean;
}

/** How long the counts of a verdict may be out of date while its cause stays the same. */
const recountMs = 60_000;

/**
 * Shows users why their pods are not scheduled: through the PodScheduled condition and an Event, also on the group. Every member gets the
 * same verdict. The member with the lowest uid is written first, because the PodGroup's status is copied from it.
 *
 * An unchanged verdict is not written again. If only its counts change, it is written at most once a minute, without an Event. A write that
 * meets a conflict is retried when the watch delivers the pod's new version. If none arrives, or on any other error, it is retried from
 * time to time.
 */
export class Verdicts {
  readonly #options: VerdictsOptions;
  /** uid -> the verdict that the pod should carry */
  readonly #verdicts = new Map<string, PodVerdict>();
  /** uids of pods with a write in progress */
  readonly #writing = new Set<string>();
  readonly #unwritten: UnwrittenVerdicts;
  /** uids of pods whose written counts are out of date */
  readonly #outdated = new Set<string>();
  #timer: Timer | undefined;
  /** When the timer fires, as Clock.monotonic(). */
  #timerAt = Infinity;

  constructor(options: VerdictsOptions) {
    this.#options = options;
    this.#unwritten = new UnwrittenVerdicts({ clock: options.clock, write: (uid) => this.#writeAgain(uid) });
    options.signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  /** Reports the verdict to all pods and to their group `gang`. Returns whether its cause is new for any pod. */
  report(pods: readonly Pod[], given: Verdict, gang?: GangView): boolean {
    const verdict = safeVerdict(given);
    const { clock, events } = this.#options;
    const since = clock.monotonic();
    let isNews = false;
    const ordered = [...pods].sort((a, b) => (a.uid < b.uid ? -1 : 1));
    ordered.forEach((pod, index) => {
      const known = this.#verdicts.get(pod.uid);
      if (known !== undefined && sameVerdict(known.verdict, verdict)) return;
      const isFirst = index === 0;
      if (known !== undefined && sameCause(known.verdict, verdict)) {
        this.#recount(pod, verdict, isFirst, known);
        return;
      }
      isNews = true;
      if (isFirst) this.#options.metrics.verdictReached(verdict);
      this.#verdicts.set(pod.uid, { verdict, isFirst, since, isReported: false });
      this.#outdated.delete(pod.uid);
      events.record({ ...notScheduled(pod, verdict), isMinor: !isFirst });
      const ofGroup = isFirst && gang !== undefined ? groupNotScheduled(gang, pod, verdict) : undefined;
      if (ofGroup !== undefined) events.record(ofGroup);
      void this.#write(pod);
    });
    return isNews;
  }

  /** Returns the verdict that the pod carries or is about to get; undefined if this process has given it none. */
  of(uid: string): Verdict | undefined {
    return this.#verdicts.get(uid)?.verdict;
  }

  /** The watch has delivered the pod. Retries a write that met a conflict, and forgets a verdict that no longer applies. */
  podSeen(uid: string): void {
    if (!this.#verdicts.has(uid)) return;
    const pod = this.#options.cluster.openPod(uid);
    if (pod !== undefined) void this.#write(pod);
    else this.#forget(uid);
  }

  /**
   * Handles a verdict that differs only in its counts. It is written once the written counts are old enough, or at once if none are written
   * yet. The group's status shows how many members exist and is copied from the first member. That pod is therefore written at once; such
   * reports are rare.
   */
  #recount(pod: Pod, verdict: Verdict, isFirst: boolean, { since: reported, isReported }: PodVerdict): void {
    const now = this.#options.clock.monotonic();
    const isSoon = isReported && isFirst && verdict.reason === 'WaitingForGang';
    const isDue = !isReported || this.#outdated.has(pod.uid);
    const since = isSoon ? now : isDue ? reported : Math.max(now, reported + recountMs);
    const next = { verdict, isFirst, since, isReported };
    if (since > now) {
      this.#recountLater(pod.uid, next);
      return;
    }
    this.#verdicts.set(pod.uid, next);
    this.#outdated.delete(pod.uid);
    void this.#write(pod);
  }

  /** If only the counts changed during the write, the new ones are written once the old ones are old enough. */
  #reported({ uid }: Pod, written: PodVerdict): void {
    const latest = this.#verdicts.get(uid);
    if (
      latest === undefined ||
      latest.isReported ||
      (latest !== written && !sameCause(latest.verdict, written.verdict))
    )
      return;
    latest.isReported = true;
    if (latest !== written) this.#recountLater(uid, { ...latest, since: written.since + recountMs });
  }

  #recountLater(uid: string, next: PodVerdict): void {
    this.#verdicts.set(uid, next);
    this.#outdated.add(uid);
    this.#setTimer(next.since);
  }

  #setTimer(at: number): void {
    const { clock, signal } = this.#options;
    if (at >= this.#timerAt || signal.aborted) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = clock.setTimer(at - clock.monotonic(), () => {
      this.#timerAt = Infinity;
      this.#recountDue();
    });
  }

  #recountDue(): void {
    const now = this.#options.clock.monotonic();
    let next = Infinity;
    for (const uid of this.#outdated) {
      const { since } = this.#verdicts.get(uid)!;
      if (since > now) {
        next = Math.min(next, since);
        continue;
      }
      this.#outdated.delete(uid);
      this.podSeen(uid);
    }
    if (next < Infinity) this.#setTimer(next);
  }

  /** Resolves to true if nothing is left to write. */
  async #write(pod: Pod): Promise<boolean> {
    const target = this.#verdicts.get(pod.uid);
    if (target === undefined || this.#writing.has(pod.uid)) return true;
    if (carries(pod, target.verdict)) {
      target.isReported = true;
      return true;
    }
    const { sink, cluster, logger, signal, clock, metrics } = this.#options;
    if (target.since > clock.monotonic()) return true;
    this.#writing.add(pod.uid);
    let isWritten = true;
    let isConflict = false;
    try {
      const outcome = await sink.write(pod, target.verdict, target, signal);
      isConflict = outcome === 'outdated';
      if (outcome === 'gone') this.#forget(pod.uid);
      if (outcome === 'written') this.#reported(pod, target);
      if (outcome === 'written' && target.isFirst) metrics.verdictWrittenAfter(clock.monotonic() - target.since);
    } catch (error) {
      if (signal.aborted) return true;
      isWritten = false;
      // If no verdict can be written, one warning is enough.
      const level = this.#unwritten.size === 0 ? 'warn' : 'debug';
      logger[level]('could not write a verdict; retrying', { pod: pod.key, error });
    } finally {
      this.#writing.delete(pod.uid);
    }
    const now = cluster.openPod(pod.uid);
    const hasNewVersion = now !== undefined && now.resourceVersion !== pod.resourceVersion;
    // The watch usually delivers the cause of a conflict, but not if the conflict had another reason.
    if (!isWritten || (isConflict && !hasNewVersion)) {
      this.#unwritten.add(pod.uid);
      return false;
    }
    this.#unwritten.delete(pod.uid);
    // The verdict may have changed during the write, or the watch may have delivered the pod.
    if (hasNewVersion) void this.#write(now);
    return true;
  }

  async #writeAgain(uid: string): Promise<boolean> {
    const pod = this.#options.cluster.openPod(uid);
    if (pod !== undefined) return this.#write(pod);
    this.#forget(uid);
    return true;
  }

  #forget(uid: string): void {
    this.#verdicts.delete(uid);
    this.#unwritten.delete(uid);
    this.#outdated.delete(uid);
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#unwritten.stop();
  }
}

function sameVerdict(a: Verdict, b: Verdict): boolean {
  return a.reason === b.reason && a.message === b.message;
}

function sameCause(a: Verdict, b: Verdict): boolean {
  return a.reason === b.reason && a.cause !== undefined && a.cause === b.cause;
}

function carries(pod: Pod, verdict: Verdict): boolean {
  const condition = pod.podScheduled;
  return condition?.status === 'False' && condition.reason === verdict.reason && condition.message === verdict.message;
}
