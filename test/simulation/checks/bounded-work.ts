import type { Call } from '../world/call.ts';
import type { Checker, Evidence } from './evidence.ts';

/** Bindings of one pod within `windowMs`. A Binding whose fate is not known is sent up to 16 times with back-off, and so is the next plan's. */
const mostBindings = 24;
const windowMs = 10_000;

/** I9: no pod is bound again and again without back-off, and where nothing happens nobody writes. */
export class BoundedWorkChecker implements Checker {
  readonly #evidence: Evidence;
  /** path of the Binding -> when it was sent, of late */
  readonly #bindings = new Map<string, number[]>();
  #isQuiet = false;
  readonly #writes: string[] = [];

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  sent({ of, request, process }: Call): void {
    if (of === 'bind') this.#bound(request.path);
    if (this.#isQuiet && of !== 'lease' && request.method !== 'GET') {
      this.#writes.push(`${process.name} ${request.method} ${request.path}`);
    }
  }

  quiet(): void {
    this.#isQuiet = true;
  }

  ended(): void {
    if (this.#writes.length === 0) return;
    this.#evidence.violated(
      'I9',
      `${this.#writes.length} writes although nothing has happened for long: ${this.#writes.slice(0, 3).join('; ')}`,
    );
  }

  #bound(path: string): void {
    const now = this.#evidence.now();
    const times = (this.#bindings.get(path) ?? []).filter((at) => at > now - windowMs);
    times.push(now);
    this.#bindings.set(path, times);
    if (times.length === mostBindings + 1) {
      this.#evidence.violated('I9', `${times.length} Bindings of one pod within ${windowMs / 1000} s: ${path}`);
    }
  }
}
