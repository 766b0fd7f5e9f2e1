import { isTerminal } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Gang } from '../cluster/gang.ts';
import { entityKeyOf } from '../queue/queued-entity.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';

/**
 * How the unbound members of a group are queued: `together` as one entity while its quorum is missing, `singly` (as lone
 * pods with their own time) once it stands.
 */
type Mode = 'together' | 'singly';

/** Keeps the queue's entities equal to what the picture says is to be scheduled. Level-triggered and idempotent. */
export class EntityRouter {
  readonly #cluster: Cluster;
  readonly #queue: SchedulingQueue;
  readonly #isOurs: (schedulerName: string) => boolean;
  readonly #decidesGangs: boolean;
  /** group key -> how its members are queued now */
  readonly #modes = new Map<string, Mode>();

  constructor(options: {
    readonly cluster: Cluster;
    readonly queue: SchedulingQueue;
    readonly isOurs: (schedulerName: string) => boolean;
    /** False: groups mean nothing, all pods are lone pods. */
    readonly decidesGangs: boolean;
  }) {
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#isOurs = options.isOurs;
    this.#decidesGangs = options.decidesGangs;
  }

  /**
   * Fills the queue from the picture. Ready times come from creation times, so that a restart keeps the order.
   */
  routeAll(): void {
    for (const gang of this.#cluster.gangs()) this.groupChanged(gang.key, 'Start', readyTime(gang));
    for (const pod of this.#cluster.pods()) {
      if (pod.podGroupKey === undefined || !this.#decidesGangs) this.#routeSingly(pod, 'Start', pod.creationTimestamp);
    }
  }

  /**
   * Something about the pod changed, also that it is gone. `since` (milliseconds since the epoch) is when its entity
   * counts as ready if this makes it so.
   */
  podChanged(pod: Pod, event: string, since: number): void {
    if (pod.podGroupKey === undefined || !this.#decidesGangs) this.#routeSingly(pod, event, since);
    else this.groupChanged(pod.podGroupKey, event, since, pod);
  }

  /** Something about the group or one of its members changed. */
  groupChanged(key: string, event: string, since: number, member?: Pod): void {
    if (!this.#decidesGangs) return;
    const gang = this.#cluster.gang(key);
    const mode: Mode = gang?.spec !== undefined && gang.missing === 0 ? 'singly' : 'together';
    const before = this.#modes.get(key);
    if (gang === undefined) this.#modes.delete(key);
    else this.#modes.set(key, mode);
    if (mode === 'singly') {
      if (before === 'singly' && member !== undefined) {
        this.#routeSingly(member, event, since);
        return;
      }
      this.#queue.remove(gangEntityKey(key));
      for (const pod of gang!.members.values()) this.#routeSingly(pod, event, since);
      return;
    }
    if (before === 'singly') for (const pod of gang?.members.values() ?? []) this.#queue.remove(podEntityKey(pod));
    // It may have been a lone pod until now.
    if (member !== undefined) this.#queue.remove(podEntityKey(member));
    if (gang !== undefined && this.#hasWork(gang)) this.#queue.upsert({ kind: 'gang', gang }, event, since);
    else this.#queue.remove(gangEntityKey(key));
  }

  /** The schedulerName of ours that the group's unbound members name, the first if several. */
  schedulerNameOf(gang: Gang): string | undefined {
    for (const name of gang.pendingBySchedulerName.keys()) if (this.#isOurs(name)) return name;
    if (gang.count('gated') === 0) return undefined;
    for (const pod of gang.members.values()) {
      if (pod.schedulingGates.length > 0 && pod.nodeName === '' && this.#isOurs(pod.schedulerName)) {
        return pod.schedulerName;
      }
    }
    return undefined;
  }

  #hasWork(gang: Gang): boolean {
    return this.schedulerNameOf(gang) !== undefined;
  }

  #routeSingly(pod: Pod, event: string, since: number): void {
    const current = this.#cluster.pod(pod.uid);
    const isOpen =
      current?.nodeName === '' &&
      !current.deleting &&
      !isTerminal(current) &&
      !this.#cluster.isAssumed(current.uid) &&
      this.#isOurs(current.schedulerName);
    if (isOpen) this.#queue.upsert({ kind: 'pod', pod: current }, event, since);
    else this.#queue.remove(podEntityKey(pod));
  }
}

/** When the group could first have been ready, as far as its objects tell. */
function readyTime(gang: Gang): number {
  let latest = gang.spec?.creationTimestamp ?? 0;
  for (const pod of gang.pending.values()) latest = Math.max(latest, pod.creationTimestamp);
  return latest;
}

function podEntityKey(pod: Pod): string {
  return entityKeyOf({ kind: 'pod', pod });
}

function gangEntityKey(key: string): string {
  return `gang/${key}`;
}
