import type { Call } from '../world/call.ts';
import type { SimulatedProcess } from '../world/process.ts';
import type { StoreRecord } from '../world/record.ts';
import { groupNamed, isStartNoted, podsIn, tallyOf } from './plain-group.ts';
import type { PlainGroup } from './plain-objects.ts';

/** Tells which processes have received a state in which the quorum of a group was bound. A list skips the states before it. */
export class ReceivedStarts {
  readonly #record: StoreRecord;
  /** process -> all versions that it has received */
  readonly #received = new Map<SimulatedProcess, Call['received']>();
  /** process -> uid of a group -> number of versions in which its quorum is not bound; Infinity: it is bound in a later one */
  readonly #without = new Map<SimulatedProcess, Map<string, number>>();

  constructor(record: StoreRecord) {
    this.#record = record;
  }

  sent({ process, received }: Call): void {
    this.#received.set(process, received);
  }

  get processes(): Iterable<SimulatedProcess> {
    return this.#received.keys();
  }

  has(process: SimulatedProcess, { name, uid }: PlainGroup): boolean {
    const received = this.#received.get(process)!;
    const without = this.#without.get(process) ?? new Map<string, number>();
    this.#without.set(process, without);
    const from = without.get(uid) ?? 0;
    const isFound = received.slice(from).some((view) => {
      const group = groupNamed(this.#record, name, view);
      return group?.uid === uid && tallyOf(group, podsIn(this.#record, view)).isWhole;
    });
    without.set(uid, isFound ? Infinity : Math.max(from, received.length));
    return without.get(uid) === Infinity;
  }

  /** Reports whether a scheduler that runs cannot know that the group has started. No controller has recorded it either. */
  areMissed(group: PlainGroup): boolean {
    if (isStartNoted(group, podsIn(this.#record))) return false;
    return [...this.processes].some(
      (process) => process.role === 'scheduler' && process.isAlive && !this.has(process, group),
    );
  }
}
