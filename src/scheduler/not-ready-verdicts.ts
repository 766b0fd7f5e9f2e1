import type { Clock, Timer } from '../base/clock.ts';
import type { EntityKey, QueuedEntity } from '../queue/queued-entity.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { VerdictWriter } from './verdict-writer.ts';

/** A group that is not ready for so long is told so; most become ready sooner, and then nothing needs to be written. */
const delayMs = 500;

/** Tells the members of groups that are not ready what they wait for. Lone pods behind scheduling gates say so themselves. */
export class NotReadyVerdicts {
  readonly #queue: SchedulingQueue;
  readonly #verdicts: VerdictWriter;
  readonly #clock: Clock;
  readonly #isOurs: (schedulerName: string) => boolean;
  /** Gated entities to look at when the timer fires. */
  readonly #due = new Set<EntityKey>();
  #timer: Timer | undefined;

  constructor(options: {
    readonly queue: SchedulingQueue;
    readonly verdicts: VerdictWriter;
    readonly clock: Clock;
    readonly isOurs: (schedulerName: string) => boolean;
  }) {
    this.#queue = options.queue;
    this.#verdicts = options.verdicts;
    this.#clock = options.clock;
    this.#isOurs = options.isOurs;
  }

  gated(entity: QueuedEntity): void {
    if (entity.candidate.kind !== 'gang') return;
    this.#due.add(entity.key);
    this.#timer ??= this.#clock.setTimer(delayMs, () => this.#tell());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #tell(): void {
    this.#timer = undefined;
    for (const key of this.#due) {
      const entity = this.#queue.get(key);
      if (entity?.state.kind !== 'gated' || entity.candidate.kind !== 'gang') continue;
      const ours = [...entity.candidate.gang.pending.values()].filter((pod) => this.#isOurs(pod.schedulerName));
      this.#verdicts.report(ours, { reason: 'WaitingForGang', message: `${entity.state.status.reason}.` });
    }
    this.#due.clear();
  }
}
