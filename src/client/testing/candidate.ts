import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Logger } from '../../observability/logger.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { KubeClient } from '../kube-client.ts';
import { LeaderElector } from '../leader-elector.ts';
import type { LeaderElectionTimes } from '../leader-elector.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { abortReason, wait } from '../wait.ts';
import { WriteFence } from '../write-fence.ts';
import { PausableClock } from './pausable-clock.ts';

/** Network behavior for one call; delays in milliseconds. */
export interface NetworkBehavior {
  readonly thereMs: number;
  readonly backMs: number;
  readonly loses: 'nothing' | 'request' | 'answer';
}

/** kube-scheduler's defaults. */
export const usualTimes: LeaderElectionTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

export interface CandidateOptions extends Partial<LeaderElectionTimes> {
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly server: Transport;
  /** Called for each request except watches. Absent: requests arrive at once. */
  readonly network?: (identity: string, isLease: boolean) => NetworkBehavior;
  /** Called when a write of this candidate arrives at the server, whatever happens to the response. Not called for Leases. */
  readonly onWrite?: (identity: string) => void;
  /** Default: silent. */
  readonly logger?: Logger;
}

/** A candidate process on a network that delays and loses messages. It can be paused. */
export class Candidate {
  readonly identity: string;
  readonly clock: PausableClock;
  readonly fence: WriteFence;
  readonly elector: LeaderElector;
  readonly client: KubeClient;

  constructor(options: CandidateOptions) {
    const { identity, random } = options;
    this.identity = identity;
    this.clock = new PausableClock(options.clock);
    this.fence = new WriteFence(this.clock);
    const transport = new UnreliableTransport(options, this.clock);
    this.client = new KubeClient({ transport, clock: this.clock, fence: this.fence });
    this.elector = new LeaderElector({
      ...usualTimes,
      ...options,
      client: this.client,
      clock: this.clock,
      random,
      logger: options.logger ?? silentLogger,
      namespace: 'kube-system',
      name: 'tutti',
      fence: this.fence,
    });
  }
}

class UnreliableTransport implements Transport {
  readonly #options: CandidateOptions;
  readonly #clock: PausableClock;

  constructor(options: CandidateOptions, clock: PausableClock) {
    this.#options = options;
    this.#clock = clock;
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    const { server, clock, network, identity, onWrite } = this.#options;
    if (request.connection === 'watch') return server.send(request, signal);
    request.mayBeSent?.();
    const { thereMs, backMs, loses } = network?.(identity, request.connection === 'lease') ?? {
      thereMs: 0,
      backMs: 0,
      loses: 'nothing',
    };
    // A sent message travels on the world's clock, and arrives even if its sender pauses or cancels.
    const answer = (async () => {
      if (thereMs > 0) await wait(clock, thereMs);
      if (loses === 'request') return new Promise<never>(() => undefined);
      if (request.method !== 'GET' && request.connection !== 'lease') onWrite?.(identity);
      const { mayBeSent: _, ...bare } = request;
      const response = await server.send(bare);
      if (loses === 'answer') return new Promise<never>(() => undefined);
      if (backMs > 0) await wait(clock, backMs);
      return response;
    })();
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(abortReason(signal)), { once: true });
      answer.then(
        (response) => this.#clock.whenRunning(() => resolve(response)),
        (error: Error) => this.#clock.whenRunning(() => reject(error)),
      );
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
