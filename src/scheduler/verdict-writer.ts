import { toKubernetesTime } from '../api/kubernetes-time.ts';
import { podPath } from '../api/pod-path.ts';
import type { Pod } from '../api/pod.ts';
import type { Verdict } from '../api/verdict.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { ConflictError, NotFoundError } from '../client/api-errors.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { retry } from '../client/retry.ts';
import type { Logger } from '../observability/logger.ts';
import { regardingPod } from './pod-events.ts';

export interface VerdictWriterOptions {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The pod if a verdict still concerns it: known, and neither bound nor assumed. */
  readonly openPod: (uid: string) => Pod | undefined;
  readonly signal: AbortSignal;
}

interface Wanted {
  readonly verdict: Verdict;
  readonly lane: 'verdict' | 'condition';
  /** Monotonic time of the report: binds hold its patches up for a limited time from then, repeats included. */
  readonly since: number;
}

/**
 * Tells users why their pods are not scheduled: the PodScheduled condition, and an Event. One verdict goes to every member;
 * the member with the lowest uid is patched first, because the PodGroup's status is copied from it. An unchanged verdict is
 * not written again. Every patch is conditional on the pod's resourceVersion, so that it can never follow a Binding; one
 * that loses the race is repeated when the watch shows the pod anew.
 */
export class VerdictWriter {
  readonly #options: VerdictWriterOptions;
  /** uid -> the verdict that is to be on the pod */
  readonly #wanted = new Map<string, Wanted>();
  /** uids with a patch under way */
  readonly #writing = new Set<string>();

  constructor(options: VerdictWriterOptions) {
    this.#options = options;
  }

  report(pods: readonly Pod[], verdict: Verdict): void {
    const since = this.#options.clock.monotonic();
    const ordered = [...pods].sort((a, b) => (a.uid < b.uid ? -1 : 1));
    ordered.forEach((pod, index) => {
      const known = this.#wanted.get(pod.uid);
      if (known !== undefined && sameVerdict(known.verdict, verdict)) return;
      this.#wanted.set(pod.uid, { verdict, lane: index === 0 ? 'verdict' : 'condition', since });
      this.#record(pod, verdict);
      void this.#write(pod);
    });
  }

  /** A pod as the watch shows it: repeats what a lost race kept from it, forgets what no longer concerns it. */
  podSeen(uid: string): void {
    if (!this.#wanted.has(uid)) return;
    const pod = this.#options.openPod(uid);
    if (pod !== undefined) void this.#write(pod);
    else this.#wanted.delete(uid);
  }

  async #write(pod: Pod): Promise<void> {
    const wanted = this.#wanted.get(pod.uid);
    if (wanted === undefined || this.#writing.has(pod.uid) || carries(pod, wanted.verdict)) return;
    this.#writing.add(pod.uid);
    try {
      const path = `${podPath(pod)}/status`;
      const { client, clock, random, signal } = this.#options;
      const patch = this.#patchOf(pod, wanted.verdict);
      const call = { lane: wanted.lane, heldSince: wanted.since, discardAnswer: true, signal };
      // Repeating does no harm: the patch is conditional.
      await retry(() => client.patch(path, 'strategic-merge', patch, call), {
        clock,
        random,
        idempotent: true,
        signal,
      });
    } catch (error) {
      this.#failed(pod, error);
    } finally {
      this.#writing.delete(pod.uid);
    }
    // The verdict may have changed, or the watch may have shown the pod, while the patch was under way.
    const now = this.#options.openPod(pod.uid);
    if (now !== undefined && now.resourceVersion !== pod.resourceVersion) void this.#write(now);
  }

  #failed(pod: Pod, error: unknown): void {
    if (this.#options.signal.aborted || error instanceof ConflictError) return;
    this.#wanted.delete(pod.uid);
    if (error instanceof NotFoundError) return;
    this.#options.logger.warn('could not write a verdict', { pod: pod.key, error });
  }

  #patchOf(pod: Pod, verdict: Verdict): object {
    const now = toKubernetesTime(this.#options.clock.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: verdict.reason,
      message: verdict.message,
      ...(pod.podScheduled?.status === 'False' ? {} : { lastTransitionTime: now }),
    };
    return {
      metadata: { uid: pod.uid, resourceVersion: pod.resourceVersion },
      status: { conditions: [condition] },
    };
  }

  #record(pod: Pod, verdict: Verdict): void {
    this.#options.events.record({
      regarding: regardingPod(pod),
      type: 'Warning',
      reason: verdict.reason === 'WaitingForGang' ? 'WaitingForGang' : 'FailedScheduling',
      action: 'Scheduling',
      note: verdict.message,
    });
  }
}

function sameVerdict(a: Verdict, b: Verdict): boolean {
  return a.reason === b.reason && a.message === b.message;
}

function carries(pod: Pod, verdict: Verdict): boolean {
  const condition = pod.podScheduled;
  return condition?.status === 'False' && condition.reason === verdict.reason && condition.message === verdict.message;
}
