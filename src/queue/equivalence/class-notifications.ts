import type { Clock, Timer } from '../../base/clock.ts';
import type { QueuedEntity } from '../queued-entity.ts';
import type { ClassReport, EquivalenceClass } from './equivalence-class.ts';

export interface ClassNotificationsOptions {
  readonly clock: Clock;
  /** Reports the class's latest rejection to the entity. Must not throw. */
  readonly notify: (entity: QueuedEntity, report: ClassReport) => void;
}

/** Number of entities to notify per round. Each may be a large gang, and every member costs a write. */
const batchSize = 20;
const roundMs = 1_000;

/** Progress of notifying a class. */
interface Progress {
  readonly next: Iterator<QueuedEntity, undefined>;
  /** True if the cause has changed again, so that another round must notify all of them. */
  again: boolean;
}

/**
 * Notifies the entities of a class, a few per second, when the cause of its latest rejection differs from the previous one. Classes take
 * turns. Each round over a class ends even if its cause keeps changing.
 */
export class ClassNotifications {
  readonly #options: ClassNotificationsOptions;
  /** class -> its progress */
  readonly #due = new Map<EquivalenceClass, Progress>();
  #timer: Timer | undefined;

  constructor(options: ClassNotificationsOptions) {
    this.#options = options;
  }

  /** Records the rejection of the class's representative. */
  report(of: EquivalenceClass, report: ClassReport): void {
    const before = of.report?.verdict;
    of.report = report;
    const { cause, waitsFor } = report.verdict;
    if (before !== undefined && (before.cause !== cause || before.waitsFor !== waitsFor)) this.#add(of);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#due.clear();
  }

  #add(of: EquivalenceClass): void {
    const known = this.#due.get(of);
    if (known !== undefined) known.again = true;
    else this.#due.set(of, { next: of.entities(), again: false });
    this.#timer ??= this.#options.clock.setTimer(roundMs, () => this.#notifySome());
  }

  #notifySome(): void {
    this.#timer = undefined;
    for (let notified = 0; notified < batchSize && this.#due.size > 0;) {
      for (const [of, progress] of this.#due) {
        if (this.#notifyNext(of, progress)) notified++;
        if (notified === batchSize) break;
      }
    }
    if (this.#due.size > 0) this.#timer = this.#options.clock.setTimer(roundMs, () => this.#notifySome());
  }

  /** Returns false if no entity is left. */
  #notifyNext(of: EquivalenceClass, progress: Progress): boolean {
    const result = progress.next.next();
    if (result.done !== true) {
      this.#options.notify(result.value, of.report!);
      return true;
    }
    this.#due.delete(of);
    if (progress.again) this.#due.set(of, { next: of.entities(), again: false });
    return false;
  }
}
