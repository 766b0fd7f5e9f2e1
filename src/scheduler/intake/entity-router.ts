import type { Pod } from '../../api/pod.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Misfit } from '../../cluster/misfits.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Profiles } from '../profiles.ts';

/**
 * How the unbound members of a group are queued:
 * - `together`: as one entity, while the quorum is missing;
 * - `settling`: not at all, while the quorum is planned but not bound, or is being evicted. No member is bound beyond a quorum that may
 *   still fail, or joins one that goes;
 * - `singly`: as pods with their own ready time, once the group has started.
 */
type Mode = 'together' | 'settling' | 'singly';

/** What the router keeps on a group. */
interface Routed {
  readonly mode: Mode;
  /** How many schedulers its pending members name, but at least 1. If there are several, no member of a gang can be scheduled. */
  readonly schedulers: number;
  /** As in GangView: no member can be scheduled either. */
  readonly isHeldBack: boolean;
  /** The misfit that verdicts name. */
  readonly misfit: Misfit | undefined;
}

/** Keeps the queue's entities in line with the cluster cache. Level-triggered and idempotent. */
export class EntityRouter {
  readonly #cluster: Cluster;
  readonly #queue: SchedulingQueue;
  readonly #profiles: Profiles;
  readonly #holds: ((groupKey: string) => boolean)[] = [];
  readonly #bars: ((groupKey: string) => boolean)[] = [];
  /** group key -> how its members are queued now */
  readonly #routed = new Map<string, Routed>();

  constructor(options: { readonly cluster: Cluster; readonly queue: SchedulingQueue; readonly profiles: Profiles }) {
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#profiles = options.profiles;
  }

  /** While `isHeld` returns true for a group, its members are not queued together. */
  holdWhile(isHeld: (groupKey: string) => boolean): void {
    this.#holds.push(isHeld);
  }

  /** While `isBarred` returns true for a group, none of its members is queued. */
  barWhile(isBarred: (groupKey: string) => boolean): void {
    this.#bars.push(isBarred);
  }

  /** Fills the queue from the cluster cache. Ready times derive from creation times, so a restart keeps the order. */
  routeAll(): void {
    for (const gang of this.#cluster.gangs()) this.groupChanged(gang.key, 'Start', readyTime(gang));
    for (const pod of this.#cluster.pods()) {
      if (this.#isLone(pod)) this.#routeSingly(pod, 'Start', pod.creationTimestamp, false);
    }
  }

  /**
   * The pod was added, changed or deleted. If the change makes its entity ready, `since` (milliseconds since the epoch) is the ready time.
   * `asksElse`: the entity's demand has changed, so its last rejection no longer applies.
   */
  podChanged(pod: Pod, event: string, since: number, asksElse = false): void {
    if (this.#isLone(pod)) this.#routeSingly(pod, event, since, asksElse);
    if (pod.podGroupKey !== undefined) this.groupChanged(pod.podGroupKey, event, since, asksElse, pod);
  }

  /** Members were stranded, or no longer are. */
  strandedChanged(key: string, event: string, since: number): void {
    // Members that are queued as pods do not depend on the others.
    const isSingly = this.#routed.get(key)?.mode === 'singly' && this.#modeOf(key) === 'singly';
    if (!isSingly) this.groupChanged(key, event, since, true);
  }

  /** The group or one of its members was added, changed or deleted. */
  groupChanged(key: string, event: string, since: number, asksElse = false, member?: Pod): void {
    const gang = this.#cluster.gang(key);
    const mode = this.#modeOf(key);
    const before = this.#routed.get(key);
    const schedulers = gang?.spec?.minMember === 0 ? 1 : Math.max(1, gang?.pendingBySchedulerName.size ?? 0);
    const isHeldBack = gang?.isHeldBack === true;
    const misfit = isHeldBack ? gang.misfits.first : undefined;
    const hasSameObstacles =
      before?.schedulers === schedulers && before.isHeldBack === isHeldBack && before.misfit === misfit;
    if (gang === undefined) this.#routed.delete(key);
    else this.#routed.set(key, { mode, schedulers, isHeldBack, misfit });
    if (mode === 'singly') {
      if (before?.mode === 'singly' && hasSameObstacles && member !== undefined) {
        this.#routeSingly(member, event, since, asksElse);
        return;
      }
      this.#queue.remove(gangEntityKey(key));
      const allAskElse = asksElse || !hasSameObstacles;
      for (const pod of gang!.members.values()) this.#routeSingly(pod, event, since, allAskElse);
      if (member !== undefined && !gang!.members.has(member.uid)) this.#routeSingly(member, event, since, asksElse);
      return;
    }
    if (before?.mode === 'singly') for (const pod of gang?.members.values() ?? []) this.#removeMember(pod);
    // The pod may have been queued without a group until now.
    if (member !== undefined) this.#removeMember(member);
    if (gang !== undefined && mode === 'together' && this.#hasWork(gang) && !this.#holds.some((isHeld) => isHeld(key)))
      this.#queue.upsert({ kind: 'gang', gang }, event, { since, asksElse });
    else this.#queue.remove(gangEntityKey(key));
  }

  #modeOf(key: string): Mode {
    return this.#bars.some((isBarred) => isBarred(key)) ? 'settling' : modeOf(this.#cluster.gang(key));
  }

  #hasWork(gang: GangView): boolean {
    return this.#profiles.schedulerNameOf(gang) !== undefined;
  }

  /** Returns whether the pod has no group, or is ours and its profile ignores groups. */
  #isLone({ podGroupKey, schedulerName }: Pod): boolean {
    if (podGroupKey === undefined) return true;
    return this.#profiles.isOurs(schedulerName) && !this.#profiles.decidesGangs(schedulerName);
  }

  /** Removes the pod's own entity, because the pod is queued with its group. */
  #removeMember(pod: Pod): void {
    if (pod.podGroupKey === undefined || !this.#isLone(pod)) this.#queue.remove(podEntityKey(pod));
  }

  #routeSingly(pod: Pod, event: string, since: number, asksElse: boolean): void {
    const open = this.#cluster.openPod(pod.uid);
    const isOurs = open !== undefined && this.#profiles.isOurs(open.schedulerName);
    if (isOurs) this.#queue.upsert({ kind: 'pod', pod: open }, event, { since, asksElse });
    else this.#queue.remove(podEntityKey(pod));
  }
}

function modeOf(gang: GangView | undefined): Mode {
  if (gang?.spec === undefined || gang.missing > 0) return 'together';
  return gang.started ? 'singly' : 'settling';
}

/** Returns when the group could first have been ready, according to its objects. */
function readyTime(gang: GangView): number {
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
