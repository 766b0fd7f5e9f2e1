import type { Call } from '../world/call.ts';
import type { SimulatedProcess } from '../world/process.ts';

/** Which scheduler writes, and since when: what happened before it knows from the API alone. */
export class CurrentWriter {
  readonly #now: () => number;
  #writer: { readonly process: SimulatedProcess; readonly since: number } | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  sent({ process, of, request }: Call): void {
    if (process.role !== 'scheduler' || of === 'lease' || request.method === 'GET') return;
    if (this.#writer?.process !== process) this.#writer = { process, since: this.#now() };
  }

  /** When its first write was sent; undefined: nobody has written. */
  get since(): number | undefined {
    return this.#writer?.since;
  }
}
