import type { Clock } from '../base/clock.ts';
import { BindPrecedence } from '../client/bind-precedence.ts';
import { CallGate } from '../client/call-gate.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { KubeClient } from '../client/kube-client.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { MeasuredTransport } from '../client/measured-transport.ts';
import { RateLimiter } from '../client/rate-limiter.ts';
import { HttpTransport } from '../client/http/http-transport.ts';
import type { WriteFence } from '../client/write-fence.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';

/** How a process reaches its API server. */
export interface ApiConnectionOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Where to; or the kubeconfig file and context, found as kubectl finds them when absent. */
  readonly endpoint?: Endpoint;
  readonly kubeconfig?: string;
  /** What names that file, where it is not --kubeconfig. */
  readonly kubeconfigFrom?: string;
  readonly context?: string;
  /** Calls a second in the long run, and at once; as kube-scheduler's --kube-api-qps and --kube-api-burst. */
  readonly qps: number;
  readonly burst: number;
  /** Stops the writes of a process that does not lead. Absent: it may always write. */
  readonly fence?: WriteFence;
  /** Where requests are counted and timed; of one registry there is one connection. Absent: nowhere. */
  readonly registry?: MetricRegistry;
  /** Gets a line for each request at level debug, where they are counted. Absent: nobody does. */
  readonly logger?: Logger;
  /** As HttpTransport has them. */
  readonly callConnections?: number;
}

export interface ApiConnection {
  readonly client: KubeClient;
  readonly server: string;
  close(): Promise<void>;
}

/** Rejects with KubeconfigError when there is no usable kubeconfig. Connects to nothing yet. */
export async function connectToApi(options: ApiConnectionOptions): Promise<ApiConnection> {
  const { clock, userAgent, qps, burst, fence, registry, logger } = options;
  const endpoint =
    options.endpoint ??
    (await loadKubeconfig({
      clock,
      ...(options.kubeconfig === undefined ? {} : { path: options.kubeconfig }),
      ...(options.kubeconfigFrom === undefined ? {} : { pathFrom: options.kubeconfigFrom }),
      ...(options.context === undefined ? {} : { context: options.context }),
    }));
  const { server } = endpoint;
  const http = new HttpTransport({
    endpoint,
    ...(options.callConnections === undefined ? {} : { callConnections: options.callConnections }),
  });
  const transport =
    registry === undefined
      ? http
      : new MeasuredTransport({ transport: http, clock, registry, server, ...(logger !== undefined && { logger }) });
  const gate = new CallGate({
    limiter: new RateLimiter({ clock, qps, burst }),
    precedence: new BindPrecedence({ clock }),
  });
  return {
    client: new KubeClient({ transport, clock, gate, userAgent, ...(fence !== undefined && { fence }) }),
    server,
    close: () => transport.close(),
  };
}
