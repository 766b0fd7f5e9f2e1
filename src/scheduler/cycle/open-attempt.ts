import type { Clock } from '../../base/clock.ts';
import { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Profile } from '../../framework/profile.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { Returned } from '../extenders/extender-requests.ts';
import type { CycleResult } from './cycle-result.ts';

/** What an attempt is about. */
export interface AttemptSubject {
  readonly entity: QueuedEntity;
  readonly profile: Profile;
  /** Where it is the second half of one. */
  readonly returned: Returned | undefined;
}

/**
 * An attempt that is being made in steps. Between them whoever looks at the picture sees it as it was before the attempt: what is half
 * planned does not count. Nothing may change it until the attempt has ended.
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

  /** For how many milliseconds it has been worked at, pauses left aside. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** How it ended; undefined while there is more to do. */
  get result(): CycleResult | undefined {
    return this.#result;
  }

  /** Continues for so much work, and then to the end of the step. */
  advance(work: number): void {
    const begunAt = this.#clock.monotonic();
    this.#budget.allow(work);
    const step = this.#unhidden(() => this.#steps.next());
    this.#workedMs += this.#clock.monotonic() - begunAt;
    if (step.done === true) this.#result = step.value;
  }

  /** Gives it up after a pause: nothing is reserved or assumed. */
  abandon(): void {
    this.#unhidden(() => this.#steps.return(undefined as never));
  }

  /** It has not ended, and no step is being made. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  #unhidden(go: () => IteratorResult<undefined, CycleResult>): IteratorResult<undefined, CycleResult> {
    if (this.#isPaused) this.#cluster.resume();
    this.#isPaused = false;
    const step = go();
    this.#isPaused = step.done !== true;
    if (this.#isPaused) this.#cluster.pause();
    return step;
  }
}
