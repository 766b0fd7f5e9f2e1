import type { Clock, Timer } from '../../base/clock.ts';
import type { Line } from '../../queue/line.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';

export interface OutdatedLinesOptions {
  readonly clock: Clock;
  /** Tells the entity what the latest of its line was refused for. Must not throw. */
  readonly tell: (entity: QueuedEntity, line: Line) => void;
}

/** So many entities are told in one round: each may be a whole gang, and every member a write. */
const atOnce = 20;
const roundMs = 1_000;

/** How far a line has been told. */
interface Progress {
  next: Iterator<QueuedEntity, undefined>;
  /** It has changed once more meanwhile, and those who were told before are told anew. */
  again: boolean;
}

/**
 * Lines whose latest was refused for something else than those before it. The others still carry the former cause, and are told the new
 * one, a few each second. Lines take turns; one that changes all the time is told from its beginning to its end all the same.
 */
export class OutdatedLines {
  readonly #options: OutdatedLinesOptions;
  readonly #lines = new Map<Line, Progress>();
  #timer: Timer | undefined;

  constructor(options: OutdatedLinesOptions) {
    this.#options = options;
  }

  add(line: Line): void {
    const known = this.#lines.get(line);
    if (known !== undefined) known.again = true;
    else this.#lines.set(line, { next: line.entities(), again: false });
    this.#timer ??= this.#options.clock.setTimer(roundMs, () => this.#tellSome());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#lines.clear();
  }

  #tellSome(): void {
    this.#timer = undefined;
    for (let told = 0; told < atOnce && this.#lines.size > 0;) {
      for (const [line, progress] of this.#lines) {
        if (this.#tellNext(line, progress)) told++;
        if (told === atOnce) break;
      }
    }
    if (this.#lines.size > 0) this.#timer = this.#options.clock.setTimer(roundMs, () => this.#tellSome());
  }

  /** False when nobody is left. */
  #tellNext(line: Line, progress: Progress): boolean {
    const result = progress.next.next();
    if (result.done !== true) {
      this.#options.tell(result.value, line);
      return true;
    }
    this.#lines.delete(line);
    if (progress.again) this.#lines.set(line, { next: line.entities(), again: false });
    return false;
  }
}
