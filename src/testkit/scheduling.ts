import type { PodBinding } from '../framework/plugin-handle.ts';
import type { CycleResult } from '../scheduler/cycle/cycle-result.ts';
import type { CoreHarnessOptions } from './core-harness.ts';
import { Queueing } from './queueing.ts';

/** A Binding that the core has sent and the test has not answered. */
export interface PendingBind {
  readonly binding: PodBinding;
  readonly accept: () => void;
  readonly reject: (reason: string) => void;
}

/** A scheduler without an API server: the test delivers watch events and answers every Binding. */
export class Scheduling extends Queueing {
  readonly binds: PendingBind[];

  /** `sendsAtOnce`: the binder calls `mayBeSent` for each Binding at once. Otherwise the test calls it. */
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

  /** Makes an attempt for the next entity. Resolves to undefined if there is none. */
  async attempt(): Promise<CycleResult['kind'] | undefined> {
    const result = this.harness.core.attempt();
    await this.settle();
    return result?.kind;
  }

  /** Accepts the Binding of this pod. Does not deliver a watch event. */
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
