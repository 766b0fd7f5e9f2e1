import { addCount } from '../base/add-count.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import { Histogram } from '../observability/histogram.ts';
import { readCounter } from '../observability/read-counter.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export interface MeasuredTransportOptions {
  readonly transport: Transport;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly registry: MetricRegistry;
  /** Address of the API server, as in Endpoint. */
  readonly server: string;
  /** Logs each request at level debug. Absent: requests are not logged. */
  readonly logger?: Pick<Logger, 'debug'>;
}

type Code = number | '<error>';

/** Counts and times the requests of another transport, under client-go's metric names, and logs them. */
export class MeasuredTransport implements Transport {
  readonly #transport: Transport;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #logger: Pick<Logger, 'debug'> | undefined;
  readonly #host: string;
  /** method -> status of the response -> number of requests */
  readonly #requests = new Map<string, Map<Code, number>>();
  readonly #durations: Histogram<'verb' | 'host'>;

  constructor({ transport, clock, registry, server, logger }: MeasuredTransportOptions) {
    this.#logger = logger;
    this.#transport = transport;
    this.#clock = clock;
    const { host } = new URL(server);
    this.#host = host;
    const requests = this.#requests;
    readCounter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server, watches included, by method and response status; "<error>" if there was no response.',
      labelNames: ['code', 'method', 'host'],
      registry,
      *read() {
        for (const [method, byCode] of requests) {
          for (const [code, count] of byCode) yield [{ code: String(code), method, host }, count] as const;
        }
      },
    });
    this.#durations = new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Seconds from sending a request to the API server until its response, except for watches.',
      labelNames: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
      registry,
    });
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    const { method, path, connection } = request;
    const begun = this.#clock.monotonic();
    let code: Code = '<error>';
    let failure: { readonly error?: string } = {};
    try {
      const response = await this.#transport.send(request, signal);
      code = response.status;
      return response;
    } catch (error) {
      failure = { error: describeError(error) };
      throw error;
    } finally {
      const ms = this.#clock.monotonic() - begun;
      this.#count(method, code);
      if (connection !== 'watch') this.#durations.of({ verb: method, host: this.#host }).observe(ms / 1000);
      this.#logger?.debug('request', { method, path, code: String(code), ms, ...failure });
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #count(method: string, code: Code): void {
    let byCode = this.#requests.get(method);
    if (byCode === undefined) this.#requests.set(method, (byCode = new Map<Code, number>()));
    addCount(byCode, code, 1);
  }
}
