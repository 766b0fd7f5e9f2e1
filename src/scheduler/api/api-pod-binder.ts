import { podPath } from '../../api/pod-path.ts';
import { jitteredBackoff } from '../../base/backoff.ts';
import { AbortListeners } from '../../client/abort-listeners.ts';
import { ApiError, NotLeadingError, SettledError, TimeoutError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { abortReason, wait } from '../../client/wait.ts';
import type { PodBinder, PodBinding } from '../../framework/plugin-handle.ts';
import type { Logger } from '../../observability/logger.ts';
import { bindFailureOf } from './bind-failure.ts';
import { bindCallTimeoutMs, BoundElsewhereError, isBoundAsAsked, PodLeavingError } from './bind-read-back.ts';
import type { ReadBackOptions } from './bind-read-back.ts';
import { CallSlots } from './call-slots.ts';
import { SlowCalls } from './slow-calls.ts';
import type { RunningCall } from './slow-calls.ts';

export interface ApiPodBinderOptions extends ReadBackOptions {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** One attempt to bind a pod. Several may run at a time. */
interface Try {
  readonly binding: PodBinding;
  /** Ends all tries for the pod. */
  readonly signal: AbortSignal;
  /** The try was started because another one is slow. */
  readonly isHedge: boolean;
  /** Called when a Binding of this try has been running for this long while similar ones took far less. Returns false if it has no effect now. */
  readonly onSlow: (ms: number) => boolean;
  /** Called when a Binding of this try has failed. Other pods need not wait for the next steps. */
  readonly onFailed: () => void;
}

type ReadBack = () => Promise<boolean | undefined>;

/** Maximum number of failed Bindings of one try, unless the failure is `rejected`. */
const attempts = 5;
/** The same while a lost Binding may still take effect: the capacity stays assumed anyway. */
const attemptsInDoubt = 10;
/** The delay before each further retry. The first retry is sent at once. */
const backoff = { initialMs: 100, maxMs: 10_000 };
/** Maximum number of concurrent tries of one pod. */
const maxTries = 3;
/**
 * Maximum number of pods whose first Binding is in progress: twice the number of connections for calls. A Binding that waits for a
 * connection needs a dozen objects, a pod that waits here three, and a backlog has thousands.
 */
const firstBindings = 64;
/** Maximum number of concurrent hedges of all pods: half the spare connections, and a quarter of the other connections. */
const maxHedges = 8;

/**
 * Binds pods through the API server: `POST pods/NAME/binding`. The reaction to a failed call depends on its cause (`BindFailure`). If the
 * outcome is in doubt, the pod is read back first, so a bind is never reported wrongly.
 *
 * If a Binding takes far longer than others, the binder hedges: it reads the pod back and, if the pod is not bound, sends the Binding again
 * on another connection, while the first one continues. A second Binding to the same node can only be rejected. The first response that
 * settles the pod's state counts, and the other calls are aborted.
 *
 * A bind fails only once none of its requests can still take effect: each has a response, or its deadline has passed and a later read
 * showed the pod as not bound. Until then the pod stays assumed, because freed capacity may be reused.
 */
export class ApiPodBinder implements PodBinder {
  readonly #options: ApiPodBinderOptions;
  readonly #slowCalls: SlowCalls;
  /** Running tries, of all pods, that were started because another one is slow. */
  #hedges = 0;
  readonly #aborts = new AbortListeners();
  readonly #slots = new CallSlots(firstBindings);

  constructor(options: ApiPodBinderOptions) {
    this.#options = options;
    this.#slowCalls = new SlowCalls(options);
  }

  async bind(binding: PodBinding, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const turn = this.#slots.enter();
    if (turn !== undefined) {
      // A plugin may pass its own signal. Aborting it ends only the wait, not a running call.
      const giveUp = (): void => this.#slots.giveUp(turn, abortReason(signal));
      this.#aborts.add(signal, giveUp);
      try {
        await turn.promise;
      } finally {
        this.#aborts.delete(signal, giveUp);
      }
    }
    let isOurs = true;
    const leave = (): void => {
      if (isOurs) this.#slots.leave();
      isOurs = false;
    };
    try {
      signal.throwIfAborted();
      await this.#bind(binding, signal, leave);
    } finally {
      leave();
    }
  }

  async #bind(binding: PodBinding, signal: AbortSignal, onFailed: () => void): Promise<void> {
    const tries = new AbortController();
    const onAbort = (): void => tries.abort(signal.reason);
    this.#aborts.add(signal, onAbort);
    let running = 0;
    try {
      await new Promise<void>((resolve, reject) => {
        const begin = (isHedge: boolean): void => {
          running++;
          if (isHedge) this.#hedges++;
          const end = (): void => {
            running--;
            if (isHedge) this.#hedges--;
          };
          this.#try({ binding, signal: tries.signal, isHedge, onSlow, onFailed }).then(
            () => {
              end();
              resolve();
            },
            (error: Error) => {
              end();
              if (running === 0 || isUnbindable(error)) reject(error);
            },
          );
        };
        const onSlow = (ms: number): boolean => {
          if (tries.signal.aborted || running >= maxTries || this.#hedges >= maxHedges) return false;
          this.#reportSlow(binding, ms);
          begin(true);
          return true;
        };
        begin(false);
      });
    } finally {
      this.#aborts.delete(signal, onAbort);
      if (running > 0)
        tries.abort(new SettledError(`the outcome for pod ${binding.namespace}/${binding.name} is known`));
    }
  }

  async #try(current: Try): Promise<void> {
    const { binding, signal, isHedge } = current;
    const { clock } = this.#options;
    const readBack: ReadBack = () => isBoundAsAsked(binding, this.#options, signal);
    /** A call may have taken effect, and the scheduler lacks permission to read the pod. */
    let isUnread = false;
    /** Until then, a call without a response may take effect. */
    let lostUntil = -Infinity;
    if (isHedge) {
      const isBound = await readBack();
      if (isBound === true) return;
      isUnread = isBound === undefined;
    }
    for (let attempt = 1; ; attempt++) {
      let sentAt: number | undefined;
      try {
        await this.#post(current, isHedge || attempt > 1, (at) => (sentAt = at));
        return;
      } catch (error) {
        current.onFailed();
        if (signal.aborted || error instanceof NotLeadingError) throw error;
        const failure = bindFailureOf(error);
        if (failure === 'gone') throw error;
        if (failure === 'lost') lostUntil = Math.max(lostUntil, (sentAt ?? clock.monotonic()) + bindCallTimeoutMs);
        const isLost = lostUntil > clock.monotonic();
        const isLast = failure === 'rejected' || attempt >= (isLost ? attemptsInDoubt : attempts);
        const changedNothing = failure === 'rejected' || failure === 'busy';
        if (isLast && changedNothing && !isLost && !isUnread) throw error;
        await this.#awaitRetryAfter(error, signal);
        if (failure !== 'busy' || isLast) {
          const isBound = isLast ? await this.#readAfterDeadline(readBack, lostUntil, signal) : await readBack();
          if (isBound === true) return;
          if (isBound === false) isUnread = false;
          // A repeated 409 means that the pod is bound or replaced; the watch shows which. A single 409 may come from a proxy.
          if (isBound === undefined && failure === 'conflict' && isUnread && isLast) return;
          if (isBound === undefined) isUnread ||= isLost || failure === 'lost' || failure === 'unclear';
          if (isLast && !isUnread) throw error;
        }
        await this.#pause(changedNothing ? attempt : attempt - 1, signal);
      }
    }
  }

  /** Reads the pod at once, and again when lost calls can no longer take effect. */
  async #readAfterDeadline(readBack: ReadBack, lostUntil: number, signal: AbortSignal): Promise<boolean | undefined> {
    const isBound = await readBack();
    const leftMs = lostUntil - this.#options.clock.monotonic();
    if (isBound !== false || leftMs <= 0) return isBound;
    await wait(this.#options.clock, leftMs, signal);
    return readBack();
  }

  #pause(times: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    return wait(clock, jitteredBackoff(backoff, times, random), signal);
  }

  async #awaitRetryAfter(error: unknown, signal: AbortSignal): Promise<void> {
    const ms = error instanceof ApiError ? error.retryAfterMs : undefined;
    if (ms !== undefined && ms > 0) await wait(this.#options.clock, ms, signal);
  }

  /**
   * Sends the Binding. A repeated one goes on a spare connection, ahead of first Bindings: siblings of its pod may already be bound. `onSent`
   * gets the Clock.monotonic() time when the request is written to its connection.
   */
  async #post({ binding, signal, onSlow }: Try, isAgain: boolean, onSent: (at: number) => void): Promise<void> {
    const { namespace, name, uid, nodeName, annotations } = binding;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid, annotations },
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    };
    let call: RunningCall | undefined;
    const mayBeSent = (): void => {
      binding.mayBeSent?.();
      call = this.#slowCalls.sent(onSlow);
      onSent(call.sentAt);
    };
    const end = (isMeasured: boolean): void => {
      if (call !== undefined) this.#slowCalls.ended(call, isMeasured);
    };
    const options = { lane: 'bind', timeoutMs: bindCallTimeoutMs, isSpare: isAgain, mayBeSent, signal } as const;
    try {
      await this.#options.client.create(`${podPath(binding)}/binding`, body, options);
    } catch (error) {
      // An aborted call took at least this long.
      end(error instanceof SettledError || error instanceof TimeoutError);
      throw error;
    }
    end(true);
  }

  #reportSlow({ namespace, name, nodeName: node }: PodBinding, ms: number): void {
    this.#options.logger.info(
      'a binding is much slower than others: reading the pod back and sending the binding again',
      {
        pod: `${namespace}/${name}`,
        node,
        ms: Math.round(ms),
        thresholdMs: Math.round(this.#slowCalls.thresholdMs),
      },
    );
  }
}

/** Returns whether the pod can no longer be bound as requested, whatever the outcome of earlier calls. */
function isUnbindable(error: unknown): boolean {
  return error instanceof BoundElsewhereError || error instanceof PodLeavingError || bindFailureOf(error) === 'gone';
}
