import { VirtualClock } from '../../../base/virtual-clock.ts';
import { KubeClient } from '../../../client/kube-client.ts';
import { WriteFence } from '../../../client/write-fence.ts';
import type { PodBinding } from '../../../framework/plugin-handle.ts';
import { silentLogger } from '../../../observability/silent-logger.ts';
import { ApiPodBinder } from '../api-pod-binder.ts';
import { SlowPodServer } from './slow-pod-server.ts';

/** Binds the pod of a SlowPodServer. */
export const requested: PodBinding = {
  namespace: 'default',
  name: 'red-0',
  uid: 'ours',
  nodeName: 'a',
  annotations: {},
};
/** Duration of other bindings. */
const usualMs = 10;
export interface Ended {
  /** Undefined if the binding succeeded. */
  readonly error: unknown;
  /** Clock.monotonic() */
  readonly at: number;
}

/** A binder that has recently bound other pods, on a clock that advances when nothing else can happen. */
export class TimedBinding {
  readonly clock = new VirtualClock();
  readonly pod = new SlowPodServer(this.clock);
  readonly fence = new WriteFence(this.clock);
  readonly stop = new AbortController();
  readonly #binder: ApiPodBinder;
  /** Set while other pods are bound. */
  #others: SlowPodServer | undefined;

  constructor() {
    this.fence.openUntil(10_000_000);
    const transport = {
      send: (...call: Parameters<SlowPodServer['send']>) => (this.#others ?? this.pod).send(...call),
      close: () => Promise.resolve(),
    };
    this.#binder = new ApiPodBinder({
      client: new KubeClient({ transport, clock: this.clock, fence: this.fence }),
      clock: this.clock,
      random: () => 1,
      logger: silentLogger,
    });
  }

  /** Binds other pods, one after another. */
  async bindOthers(count = 20, takingMs = usualMs): Promise<void> {
    for (let index = 0; index < count; index++) {
      this.#others = new SlowPodServer(this.clock);
      this.#others.behavior = () => ({ responseMs: takingMs });
      const ended = this.bind();
      await this.passes(0);
      this.#others = undefined;
      const { error } = await ended;
      if (error !== undefined) throw error as Error;
    }
  }

  /** Starts a binding and resolves when it has ended. */
  async bind(terms: Partial<PodBinding> = {}): Promise<Ended> {
    let ended: Ended | undefined;
    this.#binder.bind({ ...requested, ...terms }, this.stop.signal).then(
      () => (ended = { error: undefined, at: this.clock.monotonic() }),
      (error: unknown) => (ended = { error, at: this.clock.monotonic() }),
    );
    for (let step = 0; step < 10_000; step++) {
      await this.#quiet();
      if (ended !== undefined) return ended;
      const next = this.clock.untilNextTimer();
      if (next === undefined) throw new Error('the binding waits for no timer');
      this.clock.advance(next);
    }
    throw new Error('binding never ended');
  }

  /** Advances the clock. With 0, runs everything that is due now. */
  async passes(ms: number): Promise<void> {
    const until = this.clock.monotonic() + ms;
    for (;;) {
      await this.#quiet();
      const next = this.clock.untilNextTimer();
      if (next === undefined || this.clock.monotonic() + next > until) break;
      this.clock.advance(next);
    }
    this.clock.advance(until - this.clock.monotonic());
  }

  async #quiet(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
