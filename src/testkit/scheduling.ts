import type { PodBinding } from '../framework/plugin-handle.ts';
import type { CycleResult } from '../scheduler/cycle/cycle-result.ts';
import type { CoreHarnessOptions } from './core-harness.ts';
import { Queueing } from './queueing.ts';

/** A Binding that has been sent and not answered. */
export interface PendingBind {
  readonly binding: PodBinding;
  readonly accept: () => void;
  readonly reject: (reason: string) => void;
}

/** The scheduler without the API server: the test says what the watches show, and answers every Binding. */
export class Scheduling extends Queueing {
  readonly binds: PendingBind[];

  /** `sendsAtOnce`: Bindings are looked at for the last time when they are there; otherwise the test does that. */
  constructor(
    { sendsAtOnce = false, ...options }: Omit<CoreHarnessOptions, 'binder'> & { readonly sendsAtOnce?: boolean },
    phase: 'listing' | 'running' = 'running',
  ) {
    const binds: PendingBind[] = [];
    const bind = (binding: PodBinding): Promise<void> =>
      new Promise((resolve, reject) => {
        if (sendsAtOnce) binding.mayBeSent!();
        binds.push({ binding, accept: resolve, reject: (reason) => reject(new Error(reason)) });
      });
    super({ ...options, binder: { bind } }, phase);
    this.binds = binds;
  }

  /** One attempt for what comes next; undefined when nothing does. */
  async attempt(): Promise<CycleResult['kind'] | undefined> {
    const result = this.harness.core.attempt();
    await this.settle();
    return result?.kind;
  }

  /** Lets everything run on that waits for neither a timer nor an answer. */
  async settle(): Promise<void> {
    for (let i = 0; i < 40; i++) await Promise.resolve();
  }

  /** The API server accepts the Binding of this pod; the watch shows it later, if at all. */
  async accept(name: string): Promise<void> {
    this.#take(name).accept();
    await this.settle();
  }

  async reject(name: string, reason: string): Promise<void> {
    this.#take(name).reject(reason);
    await this.settle();
  }

  #take(name: string): PendingBind {
    const index = this.binds.findIndex(({ binding }) => binding.name === name);
    if (index < 0) throw new Error(`${name} is not being bound`);
    return this.binds.splice(index, 1)[0]!;
  }
}
