import type { Pod } from '../../api/pod.ts';
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
  /** Once aborted nothing is written any more. */
  readonly signal: AbortSignal;
}

interface Wanted {
  readonly verdict: Verdict;
  readonly isFirst: boolean;
  /** From when on it is to be written, as Clock.monotonic(): its report, or when its counts may be told again. Repeats keep it. */
  readonly since: number;
  /** The API has it, with these counts or others. */
  isReported: boolean;
}

/** For so long the counts of a verdict may be out of date while its cause is not. */
const recountMs = 60_000;

/**
 * Tells users why their pods are not scheduled: the PodScheduled condition, and an Event, on the group as well. One verdict goes to every member;
 * the member with the lowest uid is written first, because the PodGroup's status is copied from it. An unchanged verdict is
 * not written again, one of which only the counts have changed once a minute at most, and then without an Event. One that loses a race
 * is repeated when the watch shows the pod anew, and from time to time, as is one that cannot be written for good.
 */
export class Verdicts {
  readonly #options: VerdictsOptions;
  /** uid -> the verdict that is to be on the pod */
  readonly #wanted = new Map<string, Wanted>();
  /** uids of pods that are being written to */
  readonly #writing = new Set<string>();
  readonly #unwritten: UnwrittenVerdicts;
  /** uids of pods whose counts are out of date */
  readonly #outdated = new Set<string>();
  #timer: Timer | undefined;
  /** When it rings, as Clock.monotonic(). */
  #timerAt = Infinity;

  constructor(options: VerdictsOptions) {
    this.#options = options;
    this.#unwritten = new UnwrittenVerdicts({ clock: options.clock, write: (uid) => this.#writeAgain(uid) });
    options.signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  /** `gang`: the group of all these pods, which is told as well. Whether its cause is news. */
  report(pods: readonly Pod[], verdict: Verdict, gang?: GangView): boolean {
    const { clock, events } = this.#options;
    const since = clock.monotonic();
    let isNews = false;
    const ordered = [...pods].sort((a, b) => (a.uid < b.uid ? -1 : 1));
    ordered.forEach((pod, index) => {
      const known = this.#wanted.get(pod.uid);
      if (known !== undefined && sameVerdict(known.verdict, verdict)) return;
      const isFirst = index === 0;
      if (known !== undefined && sameCause(known.verdict, verdict)) {
        this.#recount(pod, verdict, isFirst, known);
        return;
      }
      isNews = true;
      if (isFirst) this.#options.metrics.verdictReached(verdict);
      this.#wanted.set(pod.uid, { verdict, isFirst, since, isReported: false });
      this.#outdated.delete(pod.uid);
      events.record({ ...notScheduled(pod, verdict), isMinor: !isFirst });
      const ofGroup = isFirst && gang !== undefined ? groupNotScheduled(gang, pod, verdict) : undefined;
      if (ofGroup !== undefined) events.record(ofGroup);
      void this.#write(pod);
    });
    return isNews;
  }

  /** The verdict that is, or is about to be, on the pod; undefined where this process has given none. */
  of(uid: string): Verdict | undefined {
    return this.#wanted.get(uid)?.verdict;
  }

  /** A pod as the watch shows it: repeats what a lost race kept from it, forgets what no longer concerns it. */
  podSeen(uid: string): void {
    if (!this.#wanted.has(uid)) return;
    const pod = this.#options.cluster.openPod(uid);
    if (pod !== undefined) void this.#write(pod);
    else this.#forget(uid);
  }

  /**
   * Only counts differ: written when those that are written are old enough, and at once while none are. How many members are there is looked for
   * on the group, whose status is copied from the first: on that one it is written at once, as seldom as it is reported.
   */
  #recount(pod: Pod, verdict: Verdict, isFirst: boolean, { since: reported, isReported }: Wanted): void {
    const now = this.#options.clock.monotonic();
    const isSoon = isReported && isFirst && verdict.reason === 'WaitingForGang';
    const isDue = !isReported || this.#outdated.has(pod.uid);
    const since = isSoon ? now : isDue ? reported : Math.max(now, reported + recountMs);
    const wanted = { verdict, isFirst, since, isReported };
    if (since > now) {
      this.#recountLater(pod.uid, wanted);
      return;
    }
    this.#wanted.set(pod.uid, wanted);
    this.#outdated.delete(pod.uid);
    void this.#write(pod);
  }

  /** One of which only the counts have changed while it was being written is written again when they are old enough. */
  #reported({ uid }: Pod, written: Wanted): void {
    const latest = this.#wanted.get(uid);
    if (
      latest === undefined ||
      latest.isReported ||
      (latest !== written && !sameCause(latest.verdict, written.verdict))
    )
      return;
    latest.isReported = true;
    if (latest !== written) this.#recountLater(uid, { ...latest, since: written.since + recountMs });
  }

  #recountLater(uid: string, wanted: Wanted): void {
    this.#wanted.set(uid, wanted);
    this.#outdated.add(uid);
    this.#setTimer(wanted.since);
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
      const { since } = this.#wanted.get(uid)!;
      if (since > now) {
        next = Math.min(next, since);
        continue;
      }
      this.#outdated.delete(uid);
      this.podSeen(uid);
    }
    if (next < Infinity) this.#setTimer(next);
  }

  /** Whether nothing is left to write. */
  async #write(pod: Pod): Promise<boolean> {
    const wanted = this.#wanted.get(pod.uid);
    if (wanted === undefined || this.#writing.has(pod.uid)) return true;
    if (carries(pod, wanted.verdict)) {
      wanted.isReported = true;
      return true;
    }
    const { sink, cluster, logger, signal, clock, metrics } = this.#options;
    if (wanted.since > clock.monotonic()) return true;
    this.#writing.add(pod.uid);
    let isWritten = true;
    let lostRace = false;
    try {
      const outcome = await sink.write(pod, wanted.verdict, wanted, signal);
      lostRace = outcome === 'outdated';
      if (outcome === 'gone') this.#forget(pod.uid);
      if (outcome === 'written') this.#reported(pod, wanted);
      if (outcome === 'written' && wanted.isFirst) metrics.verdictWrittenAfter(clock.monotonic() - wanted.since);
    } catch (error) {
      if (signal.aborted) return true;
      isWritten = false;
      // Where nothing can be written one line says enough.
      const level = this.#unwritten.size === 0 ? 'warn' : 'debug';
      logger[level]('could not write a verdict, which is tried again', { pod: pod.key, error });
    } finally {
      this.#writing.delete(pod.uid);
    }
    const now = cluster.openPod(pod.uid);
    const isShownAnew = now !== undefined && now.resourceVersion !== pod.resourceVersion;
    // As a rule the watch shows why a race was lost; not when the conflict was about something else.
    if (!isWritten || (lostRace && !isShownAnew)) {
      this.#unwritten.add(pod.uid);
      return false;
    }
    this.#unwritten.delete(pod.uid);
    // The verdict may have changed, or the watch may have shown the pod, while it was being written.
    if (isShownAnew) void this.#write(now);
    return true;
  }

  async #writeAgain(uid: string): Promise<boolean> {
    const pod = this.#options.cluster.openPod(uid);
    if (pod !== undefined) return this.#write(pod);
    this.#forget(uid);
    return true;
  }

  #forget(uid: string): void {
    this.#wanted.delete(uid);
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
