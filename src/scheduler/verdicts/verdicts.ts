import type { Pod } from '../../api/pod.ts';
import { sameStart } from '../../api/predicted-start.ts';
import { safeVerdict } from '../../api/verdict.ts';
import type { PredictedStart, Verdict, VerdictReason } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Logger } from '../../observability/logger.ts';
import { groupNotScheduled, notScheduled } from './events.ts';
import type { GangMetrics } from '../metrics/gang-metrics.ts';
import type { EventSink, VerdictOutcome, VerdictSink } from '../ports.ts';
import { VerdictWrites } from './verdict-writes.ts';
import type { WriteEnd } from './verdict-writes.ts';

export interface VerdictsOptions {
  readonly sink: VerdictSink;
  readonly events: EventSink;
  readonly metrics: Pick<GangMetrics, 'verdictReached' | 'verdictWrittenAfter'>;
  readonly cluster: Pick<Cluster, 'openPod' | 'nominationFor'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Once aborted, nothing is written any more. */
  readonly signal: AbortSignal;
}

/** The verdict that a pod should carry. */
interface WantedVerdict {
  readonly verdict: Verdict;
  /** The pod is the first of its entity: its condition is the one that users and the group's status read. */
  isFirst: boolean;
  /** Clock.monotonic() of the report, or of the moment when new counts may be written. Retries keep it. */
  readonly since: number;
  /** The API server has the verdict, maybe with other counts. */
  isReported: boolean;
}

/** How long the counts of a verdict may be out of date while its cause stays the same. */
const recountMs = 60_000;
/** How long after its reservation's end a nomination is cleared. The next verdict usually does that in the same patch. */
const clearMs = 1_000;

/**
 * Shows users why their pods are not scheduled: through the PodScheduled condition and an Event, also on the group. Every member gets the
 * same verdict. The member with the lowest uid is written first, because the PodGroup's status is copied from it.
 *
 * This class knows which verdict each pod should carry; `VerdictWrites` decides when it is written. A write carries the verdict and the
 * pod's version of the moment in which it starts. So a verdict that another one replaces while it waits is never written.
 *
 * A pod's nomination is written or cleared in the same patch, so that no other component sees an unschedulable pod without the nomination.
 *
 * The first member also carries the predicted start of its entity, in a second condition: it is one prediction, however many members there
 * are.
 *
 * An unchanged verdict is not written again. If only its counts or its predicted start change, it is written at most once a minute, without
 * an Event. A start that moves by more than a tenth of the remaining time, comes or goes is written at once. A write that meets a conflict
 * is retried when the watch delivers the pod's new version. If none arrives, or on any other error, it is retried from
 * time to time.
 */
export class Verdicts {
  readonly #options: VerdictsOptions;
  /** uid -> the verdict that the pod should carry */
  readonly #wanted = new Map<string, WantedVerdict>();
  readonly #writes: VerdictWrites;

  constructor(options: VerdictsOptions) {
    this.#options = options;
    this.#writes = new VerdictWrites({
      clock: options.clock,
      write: (uid) => this.#write(uid),
      goesFirst: (uid) => this.#wanted.get(uid)?.isFirst === true,
      onError: (uid, error, isFirst) => {
        // If no verdict can be written, one warning is enough.
        const level = isFirst ? 'warn' : 'debug';
        const pod = options.cluster.openPod(uid)?.key ?? uid;
        options.logger[level]('could not write a verdict; retrying', { pod, error });
      },
    });
    options.signal.addEventListener('abort', () => this.#writes.stop(), { once: true });
  }

  /** Reports the verdict to all pods and to their group `gang`. Returns whether its cause is new for any pod. */
  report(pods: readonly Pod[], given: Verdict, gang?: GangView): boolean {
    const ofFirst = safeVerdict(given);
    const { predictedStart: _, ...ofOthers } = ofFirst;
    const { clock, events } = this.#options;
    const since = clock.monotonic();
    let isNews = false;
    const ordered = [...pods].sort((a, b) => (a.uid < b.uid ? -1 : 1));
    ordered.forEach((pod, index) => {
      const isFirst = index === 0;
      const verdict = isFirst ? ofFirst : ofOthers;
      const known = this.#wanted.get(pod.uid);
      const isSame = known !== undefined && sameVerdict(known.verdict, verdict);
      if (isSame && (known.isFirst || !isFirst)) {
        known.isFirst = isFirst;
        this.#writeNomination(pod.uid);
        return;
      }
      if (known !== undefined && sameCause(known.verdict, verdict)) {
        this.#recount(pod.uid, verdict, isFirst, known);
        this.#writeNomination(pod.uid);
        return;
      }
      isNews = true;
      if (isFirst) this.#options.metrics.verdictReached(verdict);
      this.#wanted.set(pod.uid, { verdict, isFirst, since, isReported: false });
      events.record({ ...notScheduled(pod, verdict), isMinor: !isFirst });
      const ofGroup = isFirst && gang !== undefined ? groupNotScheduled(gang, pod, verdict) : undefined;
      if (ofGroup !== undefined) events.record(ofGroup);
      this.#writes.add(pod.uid);
    });
    return isNews;
  }

  /** The reservations of these pods have ended. Clears their nominations, with the next verdict or by itself. */
  nominationsEnded(pods: readonly Pod[]): void {
    const at = this.#options.clock.monotonic() + clearMs;
    for (const { uid } of pods) {
      const pod = this.#options.cluster.openPod(uid);
      if (pod === undefined) continue;
      const verdict = this.#wanted.has(uid) ? undefined : verdictOn(pod);
      if (verdict !== undefined) this.#wanted.set(uid, { verdict, isFirst: false, since: at, isReported: true });
      this.#writes.addAt(uid, at);
    }
  }

  /** Returns the verdict that the pod carries or is about to get; undefined if this process has given it none. */
  of(uid: string): Verdict | undefined {
    return this.#wanted.get(uid)?.verdict;
  }

  /** The watch has delivered the pod. Retries a write that met a conflict, and forgets a verdict that no longer applies. */
  podSeen(uid: string): void {
    const wanted = this.#wanted.get(uid);
    if (wanted === undefined) return;
    const pod = this.#options.cluster.openPod(uid);
    if (pod === undefined) this.#forget(uid);
    else if (this.#isToWrite(pod, wanted)) this.#writes.add(uid);
  }

  /**
   * Handles a verdict that differs only in its counts or its predicted start, or whose pod has become the first of its entity. They are
   * written once the written ones are old enough, or at once if none are written yet. The group's status shows how many members exist and
   * when the group should start, and is copied from the first member. That pod is therefore written at once if the number of members
   * changes or the start moves; such reports are rare.
   */
  #recount(uid: string, verdict: Verdict, isFirst: boolean, { since: reported, isReported }: WantedVerdict): void {
    const now = this.#options.clock.monotonic();
    const shown = this.#options.cluster.openPod(uid)?.predictedStart;
    const isUrgent = verdict.reason === 'WaitingForGang' || this.#hasMoved(shown, verdict.predictedStart);
    const isSoon = isReported && isFirst && isUrgent;
    const isPlanned = !isReported || reported > now;
    const since = isSoon ? now : isPlanned ? reported : Math.max(now, reported + recountMs);
    this.#wanted.set(uid, { verdict, isFirst, since, isReported });
    if (since > now) this.#writes.addAt(uid, since);
    else this.#writes.add(uid);
  }

  /**
   * If only the counts or the start changed during the write, the new ones are written once the old ones are old enough. If the start has
   * moved, they are written when the watch delivers the pod.
   */
  #reported(uid: string, written: WantedVerdict): void {
    const latest = this.#wanted.get(uid);
    if (latest === undefined || latest.isReported) return;
    if (!sameCause(latest.verdict, written.verdict)) return;
    latest.isReported = true;
    if (sameVerdict(latest.verdict, written.verdict)) return;
    if (this.#hasMoved(written.verdict.predictedStart, latest.verdict.predictedStart)) return;
    const since = written.since + recountMs;
    this.#wanted.set(uid, { ...latest, since });
    this.#writes.addAt(uid, since);
  }

  /** Returns whether the start comes, goes or differs by more than a tenth of the time until the shown one. */
  #hasMoved(shown: PredictedStart | undefined, start: PredictedStart | undefined): boolean {
    if (shown === undefined || start === undefined) return shown !== start;
    if (shown.at === undefined || start.at === undefined) return shown.at !== start.at;
    return Math.abs(start.at - shown.at) > Math.max(0, shown.at - this.#options.clock.now()) / 10;
  }

  /** A nomination does not wait until the verdict's counts are old enough. */
  #writeNomination(uid: string): void {
    const pod = this.#options.cluster.openPod(uid);
    if (pod !== undefined && this.#options.cluster.nominationFor(pod) !== undefined) this.#writes.add(uid);
  }

  /** Returns whether a write now would change the pod. */
  #isToWrite(pod: Pod, wanted: WantedVerdict): boolean {
    if (this.#options.cluster.nominationFor(pod) !== undefined) return true;
    if (!carries(pod, wanted.verdict)) return wanted.since <= this.#options.clock.monotonic();
    wanted.isReported = true;
    return false;
  }

  #write(uid: string): Promise<() => WriteEnd> | undefined {
    const { sink, cluster, signal } = this.#options;
    const wanted = this.#wanted.get(uid);
    const pod = cluster.openPod(uid);
    if (pod === undefined) this.#forget(uid);
    if (pod === undefined || wanted === undefined || !this.#isToWrite(pod, wanted)) return undefined;
    const nominatedNodeName = cluster.nominationFor(pod);
    const verdict = nominatedNodeName === undefined ? wanted.verdict : { ...wanted.verdict, nominatedNodeName };
    return sink
      .write(pod, verdict, wanted, signal)
      .then((outcome) => () => this.#ended(uid, outcome, wanted, pod.resourceVersion));
  }

  #ended(uid: string, outcome: VerdictOutcome, written: WantedVerdict, version: string): WriteEnd {
    const { cluster, clock, metrics } = this.#options;
    if (outcome === 'gone') this.#forget(uid);
    if (outcome === 'written') this.#reported(uid, written);
    if (outcome === 'written' && written.isFirst) metrics.verdictWrittenAfter(clock.monotonic() - written.since);
    const now = cluster.openPod(uid);
    if (now !== undefined && now.resourceVersion !== version) return 'again';
    // The watch usually delivers the cause of a conflict, but not if the conflict had another reason.
    return outcome === 'outdated' ? 'failed' : 'done';
  }

  #forget(uid: string): void {
    this.#wanted.delete(uid);
    this.#writes.delete(uid);
  }
}

function sameVerdict(a: Verdict, b: Verdict): boolean {
  return a.reason === b.reason && a.message === b.message && sameStart(a.predictedStart, b.predictedStart);
}

function sameCause(a: Verdict, b: Verdict): boolean {
  return a.reason === b.reason && (a.message === b.message || (a.cause !== undefined && a.cause === b.cause));
}

function carries(pod: Pod, verdict: Verdict): boolean {
  const shown = verdictOn(pod);
  return shown !== undefined && sameVerdict(shown, verdict);
}

/** Returns the verdict that the pod carries in the API. */
function verdictOn({ podScheduled, predictedStart }: Pod): Verdict | undefined {
  if (podScheduled?.status !== 'False') return undefined;
  const { reason, message } = podScheduled;
  return { reason: reason as VerdictReason, message, waitsFor: 'unknown', ...(predictedStart && { predictedStart }) };
}
