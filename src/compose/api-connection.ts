import type { Clock } from '../base/clock.ts';
import { ApiAccessLog } from '../client/api-access-log.ts';
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

/** The connection of a process to its API server. */
export interface ApiConnectionOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** The API server. Absent: the kubeconfig file and context, or the defaults of kubectl. */
  readonly endpoint?: Endpoint;
  readonly kubeconfig?: string;
  /** The flag that sets that file, if it is not --kubeconfig. */
  readonly kubeconfigFrom?: string;
  readonly context?: string;
  /** Calls per second in the long run, and burst; like kube-scheduler's --kube-api-qps and --kube-api-burst. */
  readonly qps: number;
  readonly burst: number;
  /** Blocks the writes of a process that does not lead. Absent: writes are always allowed. */
  readonly fence?: WriteFence;
  /** Registry of the request metrics; use one connection per registry. Absent: no metrics. */
  readonly registry?: MetricRegistry;
  /** Logs each request at level debug, if there is a registry. Absent: requests are not logged. */
  readonly logger?: Logger;
  /** Logs whether the API server is reachable and accepts the calls, see ApiAccessLog. Absent: the callers log their failures. */
  readonly accessLogger?: Logger;
  /** As in HttpTransport. */
  readonly callConnections?: number;
}

export interface ApiConnection {
  readonly client: KubeClient;
  readonly server: string;
  close(): Promise<void>;
}

/** Prepares the connection. Rejects with KubeconfigError if there is no usable kubeconfig. It opens no connection yet. */
export async function connectToApi(options: ApiConnectionOptions): Promise<ApiConnection> {
  const { clock, userAgent, qps, burst, fence, registry, logger, accessLogger } = options;
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
  const accessLog = accessLogger && new ApiAccessLog({ server, clock, logger: accessLogger });
  const gate = new CallGate({
    limiter: new RateLimiter({ clock, qps, burst }),
    precedence: new BindPrecedence({ clock }),
  });
  return {
    client: new KubeClient({
      ...{ transport, clock, gate, userAgent },
      ...(fence !== undefined && { fence }),
      ...(accessLog !== undefined && { observer: accessLog }),
    }),
    server,
    close: () => {
      accessLog?.stop();
      return transport.close();
    },
  };
}
