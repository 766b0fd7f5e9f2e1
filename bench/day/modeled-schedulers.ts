import type { DayProgress, DayScheduler } from './day-scheduler.ts';
import { cluster, clusterGpus, sizeClasses } from './job.ts';
import type { Job, SizeClass } from './job.ts';
import { NodePool } from './node-pool.ts';
import type { Placement } from './node-pool.ts';

interface Running {
  readonly job: Job;
  readonly placement: Placement;
  readonly startedAt: number;
}

/** Jobs in order of submission on a pool of nodes. A subclass decides which jobs start. */
abstract class ModeledScheduler implements DayScheduler {
  protected readonly waiting: Job[] = [];
  /** id of a job -> where it runs */
  protected readonly running = new Map<number, Running>();
  protected readonly pool: NodePool;
  protected now = 0;
  #isChanged = false;
  #started: Job[] = [];

  constructor(pool = NodePool.empty(cluster.nodes, cluster.gpusPerNode)) {
    this.pool = pool;
  }

  /** Starts every job that may start now. */
  protected abstract startJobs(): void;

  submit(job: Job, now: number): void {
    this.waiting.push(job);
    this.#changedAt(now);
  }

  ended(job: Job, now: number): void {
    const { placement } = this.running.get(job.id)!;
    this.running.delete(job.id);
    this.pool.release(placement, job.gpus);
    this.#changedAt(now);
  }

  runUntil(time: number): Promise<DayProgress> {
    this.#started = [];
    if (this.#isChanged) this.startJobs();
    this.#isChanged = false;
    if (this.#started.length === 0) this.now = time;
    return Promise.resolve({ now: this.now, started: this.#started });
  }

  #changedAt(now: number): void {
    this.now = now;
    this.#isChanged = true;
  }

  protected start(job: Job, placement: Placement): void {
    this.waiting.splice(this.waiting.indexOf(job), 1);
    this.pool.take(placement, job.gpus);
    this.running.set(job.id, { job, placement, startedAt: this.now });
    this.#started.push(job);
  }

  /** Starts the first jobs in order, up to the first one that does not fit. */
  protected startInOrder(): void {
    for (let [next] = this.waiting; next !== undefined; [next] = this.waiting) {
      const placement = this.pool.place(next);
      if (placement === undefined) return;
      this.start(next, placement);
    }
  }
}

/** Starts jobs strictly in order: the first one that does not fit holds up all others. */
export class StrictFifo extends ModeledScheduler {
  protected startJobs(): void {
    this.startInOrder();
  }
}

/**
 * Backfill as the EASY scheduler does it. The first job that does not fit gets a reservation at the earliest time at which it fits by the
 * declared run times. Later jobs start before it if they end by then, or fit beside it.
 */
export class Easy extends ModeledScheduler {
  protected startJobs(): void {
    this.startInOrder();
    const [head, ...others] = this.waiting;
    if (head === undefined) return;
    const { at, pool: beside } = this.#reservationFor(head);
    for (const job of others) {
      const endsBefore = this.now + job.declaredMs <= at;
      const placement = this.pool.place(job, endsBefore ? undefined : beside);
      if (placement === undefined) continue;
      this.start(job, placement);
      if (!endsBefore) beside.take(placement, job.gpus);
    }
  }

  /** Returns when the job fits, and what is free then beside it. A job that has run for longer than declared counts as about to end. */
  #reservationFor(head: Job): { readonly at: number; readonly pool: NodePool } {
    const pool = NodePool.copyOf(this.pool);
    const endOf = ({ startedAt, job }: Running): number => Math.max(startedAt + job.declaredMs, this.now + 1);
    for (const running of [...this.running.values()].sort((a, b) => endOf(a) - endOf(b))) {
      pool.release(running.placement, running.job.gpus);
      const placement = pool.place(head);
      if (placement === undefined) continue;
      pool.take(placement, head.gpus);
      return { at: endOf(running), pool };
    }
    throw new Error(`job ${head.id} does not fit on the empty cluster`);
  }
}

/** Each size class has the cluster to itself, as one pool of GPUs without nodes, in order: no scheduler can serve a class better in order. */
export class Ideal implements DayScheduler {
  readonly #classes = new Map<SizeClass, StrictFifo>(
    sizeClasses.map((each) => [each, new StrictFifo(NodePool.empty(1, clusterGpus))]),
  );

  submit(job: Job, now: number): void {
    this.#classes.get(job.class)!.submit(job, now);
  }

  ended(job: Job, now: number): void {
    this.#classes.get(job.class)!.ended(job, now);
  }

  async runUntil(time: number): Promise<DayProgress> {
    const runs = await Promise.all([...this.#classes.values()].map((each) => each.runUntil(time)));
    return { now: Math.min(...runs.map(({ now }) => now)), started: runs.flatMap(({ started }) => started) };
  }
}
