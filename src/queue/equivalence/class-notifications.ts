import type { Clock, Timer } from '../../base/clock.ts';
import type { QueuedEntity } from '../queued-entity.ts';
import type { ClassReport, EquivalenceClass } from './equivalence-class.ts';

export interface ClassNotificationsOptions {
  readonly clock: Clock;
  /** Reports the latest rejection of its class to the entity. Must not throw. */
  readonly notify: (entity: QueuedEntity, report: ClassReport) => void;
}

/** How many entities are notified in a round: each may be a large gang, and every member costs a write. */
const atOnce = 20;
const roundMs = 1_000;

/** How far the entities of a class have been notified. */
interface Progress {
  readonly next: Iterator<QueuedEntity, undefined>;
  /** The cause has changed again, so that all of them are notified once more. */
  again: boolean;
}

/**
 * Notifies the entities of a class when its latest rejection has another cause than the one before: a few each second. Classes take
 * turns, and each round over a class ends even if its cause changes all the time.
 */
export class ClassNotifications {
  readonly #options: ClassNotificationsOptions;
  /** class -> its progress */
  readonly #due = new Map<EquivalenceClass, Progress>();
  #timer: Timer | undefined;

  constructor(options: ClassNotificationsOptions) {
    this.#options = options;
  }

  /** An entity of the class was tried and rejected. */
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
    for (let notified = 0; notified < atOnce && this.#due.size > 0;) {
      for (const [of, progress] of this.#due) {
        if (this.#notifyNext(of, progress)) notified++;
        if (notified === atOnce) break;
      }
    }
    if (this.#due.size > 0) this.#timer = this.#options.clock.setTimer(roundMs, () => this.#notifySome());
  }

  /** False when no entity is left. */
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
