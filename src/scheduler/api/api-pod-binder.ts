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
import type { CallUnderWay } from './slow-calls.ts';

export interface ApiPodBinderOptions extends ReadBackOptions {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** One try to bind a pod, of which there may be several at a time. */
interface Try {
  readonly binding: PodBinding;
  /** Ends all tries of the pod. */
  readonly signal: AbortSignal;
  /** Another one hangs. */
  readonly isHedge: boolean;
  /** A Binding of this try has been under way for so long, and others like it took far less. */
  readonly onSlow: (ms: number) => boolean;
  /** A Binding of this try has failed; whatever is done now, others need not wait for it. */
  readonly onFailed: () => void;
}

type Look = () => Promise<boolean | undefined>;

/** Bindings of one try that fail with another cause than `rejected`. */
const attempts = 5;
/** As many where a lost one may still be carried out: the room has to be kept meanwhile anyway. */
const attemptsInDoubt = 10;
/** Before the second time that the same is sent again; the first time is at once. */
const backoff = { initialMs: 100, maxMs: 10_000 };
/** Tries of one pod at a time. */
const mostTries = 3;
/**
 * Pods whose first Binding is under way at a time: twice as many as there are connections for calls. A Binding that waits for one is a
 * dozen objects, a pod that waits here is three, and a backlog has thousands.
 */
const firstBindings = 64;
/** Of all pods, hedges at a time: half as many as there are spare connections, and a quarter of what others have. */
const mostHedges = 8;

/**
 * Binds pods through the API server: `POST pods/NAME/binding`. What follows from a call that fails depends on its cause (`BindFailure`);
 * whenever that leaves doubt, the pod is read back before anything else, so a bind is never reported wrongly.
 *
 * A Binding that takes far longer than others do is not waited for: the pod is read back and, when it is on no node, the Binding sent again on
 * another connection, while the first one goes on. A second Binding to the same node can only be rejected, so whichever answer
 * settles what the pod's state is counts, and the other calls are given up.
 *
 * A bind fails only when nothing that was sent for it can still be carried out: every call was answered, or its deadline has passed
 * and the pod was found on no node after that. Until then the pod stays assumed, for room that is given back may be taken.
 */
export class ApiPodBinder implements PodBinder {
  readonly #options: ApiPodBinderOptions;
  readonly #slowCalls: SlowCalls;
  /** Tries under way, of all pods, that were begun because another one hangs. */
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
      // A plugin may bind under a signal of its own, which ends nothing that is under way.
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
              if (running === 0 || saysThatItCannotBe(error)) reject(error);
            },
          );
        };
        const onSlow = (ms: number): boolean => {
          if (tries.signal.aborted || running >= mostTries || this.#hedges >= mostHedges) return false;
          this.#reportSlow(binding, ms);
          begin(true);
          return true;
        };
        begin(false);
      });
    } finally {
      this.#aborts.delete(signal, onAbort);
      if (running > 0)
        tries.abort(new SettledError(`it is known what became of pod ${binding.namespace}/${binding.name}`));
    }
  }

  async #try(course: Try): Promise<void> {
    const { binding, signal, isHedge } = course;
    const { clock } = this.#options;
    const look: Look = () => isBoundAsAsked(binding, this.#options, signal);
    /** A call may have been carried out, and nobody is allowed to look. */
    let isUnread = false;
    /** Until then a call may be carried out that has got no answer. */
    let lostUntil = -Infinity;
    if (isHedge) {
      const isBound = await look();
      if (isBound === true) return;
      isUnread = isBound === undefined;
    }
    for (let attempt = 1; ; attempt++) {
      let sentAt: number | undefined;
      try {
        await this.#post(course, isHedge || attempt > 1, (at) => (sentAt = at));
        return;
      } catch (error) {
        course.onFailed();
        if (signal.aborted || error instanceof NotLeadingError) throw error;
        const failure = bindFailureOf(error);
        if (failure === 'gone') throw error;
        if (failure === 'lost') lostUntil = Math.max(lostUntil, (sentAt ?? clock.monotonic()) + bindCallTimeoutMs);
        const isLost = lostUntil > clock.monotonic();
        const isLast = failure === 'rejected' || attempt >= (isLost ? attemptsInDoubt : attempts);
        const changedNothing = failure === 'rejected' || failure === 'busy';
        if (isLast && changedNothing && !isLost && !isUnread) throw error;
        await this.#heedRetryAfter(error, signal);
        if (failure !== 'busy' || isLast) {
          const isBound = isLast ? await this.#lookWhenDead(look, lostUntil, signal) : await look();
          if (isBound === true) return;
          if (isBound === false) isUnread = false;
          // It is on a node, or another pod by now: the watch shows which. Not at the first time, which a proxy may have made up.
          if (isBound === undefined && failure === 'conflict' && isUnread && isLast) return;
          if (isBound === undefined) isUnread ||= isLost || failure === 'lost' || failure === 'unclear';
          if (isLast && !isUnread) throw error;
        }
        await this.#pause(changedNothing ? attempt : attempt - 1, signal);
      }
    }
  }

  /** Looks at once, for what settles it, and once more when the calls that were lost cannot be carried out any more. */
  async #lookWhenDead(look: Look, lostUntil: number, signal: AbortSignal): Promise<boolean | undefined> {
    const isBound = await look();
    const leftMs = lostUntil - this.#options.clock.monotonic();
    if (isBound !== false || leftMs <= 0) return isBound;
    await wait(this.#options.clock, leftMs, signal);
    return look();
  }

  #pause(times: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    return wait(clock, jitteredBackoff(backoff, times, random), signal);
  }

  async #heedRetryAfter(error: unknown, signal: AbortSignal): Promise<void> {
    const ms = error instanceof ApiError ? error.retryAfterMs : undefined;
    if (ms !== undefined && ms > 0) await wait(this.#options.clock, ms, signal);
  }

  /**
   * What is sent again concerns a pod whose siblings may be bound: it does not wait behind those that nobody waits for yet. `onSent` is called
   * with the time, as Clock.monotonic(), when it is written to its connection.
   */
  async #post({ binding, signal, onSlow }: Try, isAgain: boolean, onSent: (at: number) => void): Promise<void> {
    const { namespace, name, uid, nodeName, annotations } = binding;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid, annotations },
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    };
    let call: CallUnderWay | undefined;
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
      // Those that were given up took at least so long.
      end(error instanceof SettledError || error instanceof TimeoutError);
      throw error;
    }
    end(true);
  }

  #reportSlow({ namespace, name, nodeName: node }: PodBinding, ms: number): void {
    this.#options.logger.info('a Binding takes far longer than others: the pod is read back, and bound once more', {
      pod: `${namespace}/${name}`,
      node,
      ms: Math.round(ms),
      thresholdMs: Math.round(this.#slowCalls.thresholdMs),
    });
  }
}

/** The pod cannot be bound as asked any more, whatever becomes of what was sent. */
function saysThatItCannotBe(error: unknown): boolean {
  return error instanceof BoundElsewhereError || error instanceof PodLeavingError || bindFailureOf(error) === 'gone';
}
