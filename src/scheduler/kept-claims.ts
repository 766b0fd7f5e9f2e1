import type { Clock } from '../base/clock.ts';
import type { Claim } from '../cluster/claim.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';

/** Keeps room for pods, for a limited time: when it is over the room is free again, and whoever waits for it hears of it. */
export class KeptClaims {
  readonly #cluster: Cluster;
  readonly #queue: Pick<SchedulingQueue, 'moveOnEvent'>;
  readonly #clock: Clock;

  constructor(options: {
    readonly cluster: Cluster;
    readonly queue: Pick<SchedulingQueue, 'moveOnEvent'>;
    readonly clock: Clock;
  }) {
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#clock = options.clock;
  }

  /** Makes the claims, in the place of those that their owners had, for so many milliseconds at the most. */
  keep(claims: readonly Omit<Claim, 'isKept'>[], ms: number): void {
    const kept = claims.map((claim): Claim => ({ ...claim, isKept: true }));
    for (const claim of kept) this.#cluster.claim(claim);
    this.#clock.setTimer(ms, () => {
      for (const claim of kept) this.#end(claim);
    });
  }

  #end(claim: Claim): void {
    const { claimant } = claim;
    if (this.#cluster.claimOf(claimant.uid) !== claim) return;
    this.#cluster.releaseClaim(claimant.uid);
    this.#queue.moveOnEvent({ resource: 'AssignedPod', action: 'Delete', pod: claimant });
  }
}
