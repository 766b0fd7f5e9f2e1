import type { Call } from '../world/call.ts';
import type { SimulatedProcess } from '../world/process.ts';
import type { Checker, Evidence } from './evidence.ts';

/** I6: once an instance has sent a write other than to its Lease, no earlier writer of the same role writes again. */
export class OneWriterChecker implements Checker {
  readonly #evidence: Evidence;
  /** role -> the current writer and all former ones */
  readonly #writers = new Map<string, { current: SimulatedProcess; readonly former: Set<SimulatedProcess> }>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  sent({ process, of, request }: Call): void {
    if (request.method === 'GET' || of === 'lease') return;
    const writers = this.#writers.get(process.role);
    if (writers === undefined) {
      this.#writers.set(process.role, { current: process, former: new Set() });
      return;
    }
    if (writers.current === process) return;
    if (writers.former.has(process)) {
      this.#evidence.violated(
        'I6',
        `${process.name} sent ${request.method} ${request.path} after ${writers.current.name} had begun to write`,
      );
      return;
    }
    writers.former.add(writers.current);
    writers.current = process;
  }
}
