import type { Pod } from '../api/pod.ts';
import type { Verdict } from '../api/verdict.ts';
import type { Clock } from '../base/clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { GangView } from '../cluster/gang.ts';
import type { Logger } from '../observability/logger.ts';
import { groupNotScheduled, notScheduled } from './events.ts';
import type { GangMetrics } from './metrics/gang-metrics.ts';
import type { EventSink, VerdictSink } from './ports.ts';

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
  /** Monotonic time of the report; repeats keep it. */
  readonly since: number;
}

/**
 * Tells users why their pods are not scheduled: the PodScheduled condition, and an Event, on the group as well. One verdict goes to every member;
 * the member with the lowest uid is written first, because the PodGroup's status is copied from it. An unchanged verdict is
 * not written again; one that loses a race is repeated when the watch shows the pod anew.
 */
export class Verdicts {
  readonly #options: VerdictsOptions;
  /** uid -> the verdict that is to be on the pod */
  readonly #wanted = new Map<string, Wanted>();
  /** uids of pods that are being written to */
  readonly #writing = new Set<string>();

  constructor(options: VerdictsOptions) {
    this.#options = options;
  }

  /** `gang`: the group of all these pods, which is told as well. Whether it says anything new. */
  report(pods: readonly Pod[], verdict: Verdict, gang?: GangView): boolean {
    const { clock, events } = this.#options;
    const since = clock.monotonic();
    let isNews = false;
    const ordered = [...pods].sort((a, b) => (a.uid < b.uid ? -1 : 1));
    ordered.forEach((pod, index) => {
      const known = this.#wanted.get(pod.uid);
      if (known !== undefined && sameVerdict(known.verdict, verdict)) return;
      isNews = true;
      if (index === 0) this.#options.metrics.verdictReached(verdict);
      this.#wanted.set(pod.uid, { verdict, isFirst: index === 0, since });
      events.record(notScheduled(pod, verdict));
      const ofGroup = index === 0 && gang !== undefined ? groupNotScheduled(gang, pod, verdict) : undefined;
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
    else this.#wanted.delete(uid);
  }

  async #write(pod: Pod): Promise<void> {
    const wanted = this.#wanted.get(pod.uid);
    if (wanted === undefined || this.#writing.has(pod.uid) || carries(pod, wanted.verdict)) return;
    const { sink, cluster, logger, signal, clock, metrics } = this.#options;
    this.#writing.add(pod.uid);
    try {
      const outcome = await sink.write(pod, wanted.verdict, wanted, signal);
      if (outcome === 'gone') this.#wanted.delete(pod.uid);
      if (outcome === 'written' && wanted.isFirst) metrics.verdictWrittenAfter(clock.monotonic() - wanted.since);
    } catch (error) {
      if (!signal.aborted) {
        this.#wanted.delete(pod.uid);
        logger.warn('could not write a verdict', { pod: pod.key, error });
      }
    } finally {
      this.#writing.delete(pod.uid);
    }
    // The verdict may have changed, or the watch may have shown the pod, while it was being written.
    const now = cluster.openPod(pod.uid);
    if (now !== undefined && now.resourceVersion !== pod.resourceVersion) void this.#write(now);
  }
}

function sameVerdict(a: Verdict, b: Verdict): boolean {
  return a.reason === b.reason && a.message === b.message;
}

function carries(pod: Pod, verdict: Verdict): boolean {
  const condition = pod.podScheduled;
  return condition?.status === 'False' && condition.reason === verdict.reason && condition.message === verdict.message;
}
