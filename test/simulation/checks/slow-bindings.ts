import { podIn } from '../world/call.ts';
import type { Call } from '../world/call.ts';
import type { Checker, Evidence } from './evidence.ts';

/**
 * A Binding that takes longer than this must be handled: three times the initial limit, which applies until typical Binding times are
 * known.
 */
const patienceMs = 3_000;

/**
 * I2: a slow Binding does not leave a group partially bound, because its sender reads the pod back or sends the Binding again. The checker
 * cannot see a Binding that is never carried out. Excused: paused processes, and calls that wait in the rate limiter.
 */
export class SlowBindingChecker implements Checker {
  readonly #evidence: Evidence;
  /** process and pod -> when it last sent a call about that pod */
  readonly #sentAt = new Map<string, number>();
  readonly #isRateLimited: boolean;

  /** `isRateLimited`: the rate limit is so low that a second call may have to wait. */
  constructor(evidence: Evidence, isRateLimited: boolean) {
    this.#evidence = evidence;
    this.#isRateLimited = isRateLimited;
  }

  sent(call: Call): void {
    const pod = podIn(call.request.path);
    if (pod !== undefined) this.#sentAt.set(`${call.process.name}/${pod}`, call.sentAt);
  }

  done({ process, of, request, sentAt, isGivenUp }: Call): void {
    const tookMs = this.#evidence.now() - sentAt;
    if (of !== 'bind' || tookMs < patienceMs || isGivenUp || process.wasPaused) return;
    const pod = podIn(request.path)!;
    if (this.#sentAt.get(`${process.name}/${pod}`) !== sentAt) return;
    if (this.#isRateLimited) this.#evidence.excused('a slow Binding is not handled: calls wait in the rate limiter');
    else
      this.#evidence.violated(
        'I2',
        `the Binding of pod ${pod} took ${tookMs.toFixed(0)} ms, and its sender did not handle it`,
      );
  }
}
