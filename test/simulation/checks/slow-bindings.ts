import { podIn } from '../world/call.ts';
import type { Call } from '../world/call.ts';
import type { Checker, Evidence } from './evidence.ts';

/** A Binding that takes so long is looked after: three times what is waited for before it is known what Bindings usually take. */
const patienceMs = 3_000;

/**
 * I2: a group is not in part on nodes because a Binding takes long: whoever sent it reads the pod back or sends it again. Cannot see a Binding that is
 * never carried out. Excused: processes that stood still, and calls that wait for their turn.
 */
export class SlowBindingChecker implements Checker {
  readonly #evidence: Evidence;
  /** process and pod -> when it last sent a call about that pod */
  readonly #sentAt = new Map<string, number>();
  readonly #hasTurns: boolean;

  /** `hasTurns`: so few calls a second are allowed that a second one may have to wait. */
  constructor(evidence: Evidence, hasTurns: boolean) {
    this.#evidence = evidence;
    this.#hasTurns = hasTurns;
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
    if (this.#hasTurns) this.#evidence.excused('a slow Binding is not looked after: calls wait for their turn');
    else
      this.#evidence.violated(
        'I2',
        `the Binding of pod ${pod} took ${tookMs.toFixed(0)} ms, and nobody looked after it`,
      );
  }
}
