import type { Clock, Timer } from '../../base/clock.ts';
import type { Claim } from '../../cluster/claim.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { roomFreed } from '../../framework/cluster-event.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';

/** Claims that were made together, for the same time. */
interface Kept {
  readonly standing: Set<Claim>;
  readonly timer: Timer;
}

/** Keeps room for pods, for a limited time: when it is over the room is free again, and whoever waits for it hears of it. */
export class KeptClaims {
  readonly #cluster: Cluster;
  readonly #queue: Pick<SchedulingQueue, 'moveOnEvent' | 'wake'>;
  readonly #clock: Clock;
  /** claim -> those with which it was made; one that has been ended elsewhere goes when their time is over */
  readonly #kept = new Map<Claim, Kept>();
  /** claim -> Clock.monotonic() since which its room has been kept for its owner */
  readonly #since = new WeakMap<Claim, number>();

  constructor(options: {
    readonly cluster: Cluster;
    readonly queue: Pick<SchedulingQueue, 'moveOnEvent' | 'wake'>;
    readonly clock: Clock;
  }) {
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#clock = options.clock;
  }

  /**
   * Makes the claims, in the place of those that their owners had, for so many milliseconds; then for as many again, as long as
   * `isNeeded` says so.
   */
  keep(claims: readonly Omit<Claim, 'isKept'>[], ms: number, isNeeded: () => boolean = () => false): void {
    const kept = claims.map((claim): Claim => ({ ...claim, isKept: true }));
    for (const claim of kept) {
      const before = this.#cluster.claimOf(claim.claimant.uid);
      const isSameRoom = before?.nodeName === claim.nodeName;
      this.#since.set(claim, (isSameRoom ? this.#since.get(before) : undefined) ?? this.#clock.monotonic());
      this.#cluster.claim(claim);
      if (before !== undefined) this.#forget(before);
      if (before !== undefined && before.nodeName !== claim.nodeName) this.#tell(before);
    }
    this.#setTimer(kept, ms, isNeeded);
  }

  /** kind -> seconds for which the oldest claim that was made here has been standing; 0 when none does */
  get oldestSeconds(): Record<Claim['kind'], number> {
    const oldest = { nomination: 0, repair: 0 };
    for (const claim of this.#cluster.claims()) {
      const since = this.#since.get(claim);
      if (since === undefined) continue;
      oldest[claim.kind] = Math.max(oldest[claim.kind], (this.#clock.monotonic() - since) / 1000);
    }
    return oldest;
  }

  /** Ends no claim any more. */
  stop(): void {
    for (const { timer } of this.#kept.values()) timer.cancel();
    this.#kept.clear();
  }

  #setTimer(claims: readonly Claim[], ms: number, isNeeded: () => boolean): void {
    if (claims.length === 0) return;
    const timer = this.#clock.setTimer(ms, () => {
      const standing = [...kept.standing].filter((claim) => this.#cluster.claimOf(claim.claimant.uid) === claim);
      for (const claim of kept.standing) this.#kept.delete(claim);
      if (standing.length > 0 && isNeeded()) this.#setTimer(standing, ms, isNeeded);
      else for (const claim of standing) this.#end(claim);
    });
    const kept: Kept = { standing: new Set(claims), timer };
    for (const claim of claims) this.#kept.set(claim, kept);
  }

  /** The time of those that have ended is not waited for. */
  #forget(claim: Claim): void {
    const kept = this.#kept.get(claim);
    if (kept === undefined) return;
    this.#kept.delete(claim);
    kept.standing.delete(claim);
    if (kept.standing.size === 0) kept.timer.cancel();
  }

  /** Ends a claim before its time. */
  end(claim: Claim): void {
    if (this.#cluster.claimOf(claim.claimant.uid) === claim) this.#end(claim);
  }

  /** Ends the claim that the pod has, if any, where that kind of claim has lost its reason. The pod goes on waiting for what it waits for. */
  drop(uid: string, kind: Claim['kind']): void {
    const claim = this.#cluster.claimOf(uid);
    if (claim?.kind === kind) this.#release(claim);
  }

  #release(claim: Claim): void {
    this.#forget(claim);
    this.#cluster.releaseClaim(claim.claimant.uid);
    this.#tell(claim);
  }

  #end(claim: Claim): void {
    this.#release(claim);
    // It need not wait for that room any more: there may be other room for it.
    this.#queue.wake(claim.claimant, 'ClaimEnded');
  }

  #tell({ claimant, nodeName }: Claim): void {
    this.#queue.moveOnEvent(roomFreed(claimant, nodeName));
  }
}
