import { isUnbound } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';

const none: ReadonlySet<string> = new Set();

/** Which unbound pods each Job has: their declared end depends on the deadline of the Job, which the API may show later than the pods. */
export class PodsOfJobs {
  /** uid of a Job -> uids of its unbound pods */
  readonly #pods = new Map<string, Set<string>>();
  /** uid of an unbound pod -> uid of its Job */
  readonly #jobs = new Map<string, string>();

  /** `pod`: as the API now shows it; undefined: it was deleted. */
  podSeen(uid: string, pod: Pod | undefined): void {
    const job = pod?.controller?.kind === 'Job' && isUnbound(pod) ? pod.controller.uid : undefined;
    const before = this.#jobs.get(uid);
    if (job === before) return;
    if (before !== undefined) this.#remove(uid, before);
    if (job === undefined) return;
    this.#jobs.set(uid, job);
    const pods = this.#pods.get(job);
    if (pods === undefined) this.#pods.set(job, new Set([uid]));
    else pods.add(uid);
  }

  of(job: string): ReadonlySet<string> {
    return this.#pods.get(job) ?? none;
  }

  #remove(uid: string, job: string): void {
    this.#jobs.delete(uid);
    const pods = this.#pods.get(job)!;
    pods.delete(uid);
    if (pods.size === 0) this.#pods.delete(job);
  }
}
