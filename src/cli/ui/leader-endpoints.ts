import type { Clock } from '../../base/clock.ts';
import { explainRejection } from '../../client/access-denied-error.ts';
import type { DebugEndpoints, DebugRequest, DebugResponse } from './debug-endpoints.ts';

/** Asks one scheduler, with a token that it accepts for some minutes. */
type Leader = DebugEndpoints;

export interface LeaderEndpointsOptions {
  /** Finds the scheduler that leads. */
  readonly open: () => Promise<Leader>;
  readonly clock: Clock;
}

/** Half of the lifetime of a token, see schedulerToken. */
const validMs = 300_000;

/** The debug endpoints of the scheduler that leads, whichever that is: it looks for the leader again when the known one does not answer. */
export class LeaderEndpoints implements DebugEndpoints {
  readonly #options: LeaderEndpointsOptions;
  #known: { readonly leader: Leader; readonly until: number } | undefined;

  constructor(options: LeaderEndpointsOptions) {
    this.#options = options;
  }

  /** Finds the leader, unless it is known. Rejects with the errors of openLeader. */
  async find(): Promise<Leader> {
    const { open, clock } = this.#options;
    if (this.#known === undefined || clock.monotonic() >= this.#known.until) {
      this.#known = undefined;
      this.#known = { leader: await open(), until: clock.monotonic() + validMs };
    }
    return this.#known.leader;
  }

  async get(request: DebugRequest): Promise<DebugResponse> {
    const wasKnown = this.#known !== undefined;
    try {
      const response = await (await this.find()).get(request);
      if (response.status !== 401 || !wasKnown) return response;
      response.body.destroy();
    } catch (error) {
      if (!wasKnown || request.signal.aborted) {
        this.#known = undefined;
        throw explainRejection(error);
      }
    }
    this.#known = undefined;
    return this.get(request);
  }
}
