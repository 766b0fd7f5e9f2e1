import type { Call } from '../world/call.ts';
import type { SimulatedProcess } from '../world/process.ts';

/** The scheduler that currently writes, and since when. It knows earlier events only from the API. */
export class CurrentWriter {
  readonly #now: () => number;
  #writer: { readonly process: SimulatedProcess; readonly since: number; readonly views: Call['views'] } | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  sent({ process, of, request, views }: Call): void {
    if (process.role !== 'scheduler' || of === 'lease' || request.method === 'GET') return;
    if (this.#writer?.process !== process) this.#writer = { process, since: this.#now(), views };
  }

  /** Time of its first write; undefined: no scheduler has written yet. */
  get since(): number | undefined {
    return this.#writer?.since;
  }

  /** Versions that it had received shortly before its first write; none: no scheduler has written yet. */
  get views(): Call['views'] {
    return this.#writer?.views ?? [];
  }
}
