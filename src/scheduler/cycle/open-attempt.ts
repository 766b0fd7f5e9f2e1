import type { Clock } from '../../base/clock.ts';
import { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Profile } from '../../framework/profile.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { ResumedAttempt } from '../extenders/extender-requests.ts';
import type { CycleResult } from './cycle-result.ts';

/** The entity that an attempt tries to schedule. */
export interface AttemptSubject {
  readonly entity: QueuedEntity;
  readonly profile: Profile;
  /** Set if an earlier part of the attempt waited for extenders. */
  readonly resumed: ResumedAttempt | undefined;
}

/**
 * An attempt that runs in steps. Between steps, readers of the cluster cache see the state before the attempt, without the unfinished
 * plan. Nothing may change the cache until the attempt has ended.
 */
export class OpenAttempt {
  readonly subject: AttemptSubject;
  /** Clock.monotonic() */
  readonly startedAt: number;
  readonly #cluster: Pick<Cluster, 'pause' | 'resume'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #budget = new WorkBudget();
  readonly #steps: Yielding<CycleResult>;
  #isPaused = false;
  #workedMs = 0;
  #result: CycleResult | undefined;

  constructor(options: {
    readonly subject: AttemptSubject;
    readonly cluster: Pick<Cluster, 'pause' | 'resume'>;
    readonly clock: Pick<Clock, 'monotonic'>;
    readonly steps: (budget: WorkBudget) => Yielding<CycleResult>;
  }) {
    this.subject = options.subject;
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.startedAt = options.clock.monotonic();
    this.#steps = options.steps(this.#budget);
  }

  /** Milliseconds spent on the attempt, excluding pauses. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** The result; undefined until the attempt has ended. */
  get result(): CycleResult | undefined {
    return this.#result;
  }

  /** Runs until this amount of work is done, then to the end of the current step. */
  advance(work: number): void {
    const stepStartedAt = this.#clock.monotonic();
    this.#budget.allow(work);
    const step = this.#runStep(() => this.#steps.next());
    this.#workedMs += this.#clock.monotonic() - stepStartedAt;
    if (step.done === true) this.#result = step.value;
  }

  /** Abandons a paused attempt. No pod stays reserved or assumed. */
  abandon(): void {
    this.#runStep(() => this.#steps.return(undefined as never));
  }

  /** True if the attempt has not ended and is between two steps. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  #runStep(next: () => IteratorResult<undefined, CycleResult>): IteratorResult<undefined, CycleResult> {
    if (this.#isPaused) this.#cluster.resume();
    this.#isPaused = false;
    const step = next();
    this.#isPaused = step.done !== true;
    if (this.#isPaused) this.#cluster.pause();
    return step;
  }
}
