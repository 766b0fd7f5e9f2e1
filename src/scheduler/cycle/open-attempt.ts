import type { Clock } from '../../base/clock.ts';
import { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Profile } from '../../framework/profile.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { ResumedAttempt } from '../extenders/extender-requests.ts';

/** The entity that an attempt tries to schedule. */
export interface AttemptSubject {
  readonly entity: QueuedEntity;
  readonly profile: Profile;
  /** Set if an earlier part of the attempt waited for extenders. */
  readonly resumed: ResumedAttempt | undefined;
}

/**
 * An attempt, or other work on the cluster cache, that runs in steps. Between steps, readers of the cluster cache see the state before it,
 * without the unfinished plan. Nothing may change the cache until it has ended.
 */
export class OpenAttempt<Result> {
  /** Clock.monotonic() */
  readonly startedAt: number;
  readonly #cluster: Pick<Cluster, 'pause' | 'resume'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #budget = new WorkBudget();
  readonly #steps: Yielding<Result>;
  #isPaused = false;
  #workedMs = 0;
  #result: { readonly value: Result } | undefined;

  constructor(options: {
    readonly cluster: Pick<Cluster, 'pause' | 'resume'>;
    readonly clock: Pick<Clock, 'monotonic'>;
    readonly steps: (budget: WorkBudget) => Yielding<Result>;
  }) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.startedAt = options.clock.monotonic();
    this.#steps = options.steps(this.#budget);
  }

  /** Milliseconds spent on it, excluding pauses. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** The result; undefined until it has ended. */
  get result(): { readonly value: Result } | undefined {
    return this.#result;
  }

  /** Runs until this amount of work is done, then to the end of the current step. */
  advance(work: number): void {
    const stepStartedAt = this.#clock.monotonic();
    this.#budget.allow(work);
    const step = this.#runStep(() => this.#steps.next());
    this.#workedMs += this.#clock.monotonic() - stepStartedAt;
    if (step.done === true) this.#result = { value: step.value };
  }

  /** Abandons it during a pause. No pod stays reserved or assumed. */
  abandon(): void {
    this.#runStep(() => this.#steps.return(undefined as never));
  }

  /** True if it has not ended and is between two steps. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  #runStep(next: () => IteratorResult<undefined, Result>): IteratorResult<undefined, Result> {
    if (this.#isPaused) this.#cluster.resume();
    this.#isPaused = false;
    const step = next();
    this.#isPaused = step.done !== true;
    if (this.#isPaused) this.#cluster.pause();
    return step;
  }
}
