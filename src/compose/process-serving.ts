import type { Clock } from '../base/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { configzRoute } from '../serving/configz-route.ts';
import type { HealthCheck } from '../serving/health-check.ts';
import { healthRoutes } from '../serving/health-routes.ts';
import { metricsRoute } from '../serving/metrics-route.ts';
import { RequestHandler } from '../serving/request-handler.ts';
import type { Route } from '../serving/route.ts';
import { SecureServing } from '../serving/secure-serving.ts';
import type { SecureServingOptions } from '../serving/secure-serving-options.ts';
import { ShutdownCheck } from '../serving/shutdown-check.ts';
import { startLocalServing } from '../serving/start-local-serving.ts';
import type { Serving } from '../serving/start-local-serving.ts';
import { connectToApi } from './api-connection.ts';
import type { ApiConnection, ApiConnectionOptions } from './api-connection.ts';

/**
 * How a process serves its endpoints:
 * - `secure`: over HTTPS to users that the API server authorizes, like kube-scheduler; port 0 disables it;
 * - `local`: over plain HTTP on loopback, without authentication; port 0 is any free port. For playgrounds.
 */
export type ServingChoice =
  ({ readonly kind: 'secure' } & SecureServingOptions) | { readonly kind: 'local'; readonly port: number };

export interface ProcessServingOptions {
  readonly choice: ServingChoice;
  /** Name of the process: `tutti-scheduler`. */
  readonly name: string;
  /** The process's own connection to the API server. */
  readonly api: Pick<ApiConnectionOptions, 'endpoint' | 'kubeconfig' | 'context'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The endpoints of a process. */
export interface ShownParts {
  readonly registry: MetricRegistry;
  readonly live: readonly HealthCheck[];
  readonly ready: readonly HealthCheck[];
  /** The configuration that /configz shows, and its name there. */
  readonly configuration: readonly [name: string, value: object];
  readonly debug: readonly Route[];
}

/** The running server of a process. */
export interface ProcessServing {
  /** Undefined if nothing is served. */
  readonly url: string | undefined;
  /** Marks the process as not ready because it shuts down; it still responds. */
  drain(): void;
  close(): Promise<void>;
}

/** Rate of reviews and burst: more than scrapers and people need, and little for an API server. */
const reviewLimits = { qps: 20, burst: 40 };
const reviewConnections = 2;

/**
 * Prepares serving before the process starts anything. Rejects with CertificateError, KubeconfigError or
 * AuthenticationLookupError. The result's `start` serves, and rejects with PortUnavailableError.
 */
export async function prepareServing(
  options: ProcessServingOptions,
): Promise<{ start(shown: ShownParts): Promise<ProcessServing>; close(): Promise<void> }> {
  const { choice, name, api, clock, logger } = options;
  if (choice.kind === 'secure' && choice.securePort === 0) {
    return { start: () => Promise.resolve(nothingServed), close: () => Promise.resolve() };
  }
  const connections: ApiConnection[] = [];
  const connect = async (kubeconfig: string | undefined, from: string): Promise<ApiConnection> => {
    const connection = await connectToApi({
      ...(kubeconfig === undefined ? api : { kubeconfig, kubeconfigFrom: from }),
      ...reviewLimits,
      callConnections: reviewConnections,
      clock,
      userAgent: `${name}-serving`,
    });
    connections.push(connection);
    return connection;
  };
  const close = async (): Promise<void> => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  let secure: SecureServing | undefined;
  if (choice.kind === 'secure') {
    try {
      const authentication = await connect(choice.authenticationKubeconfig, '--authentication-kubeconfig');
      const authorization = await connect(choice.authorizationKubeconfig, '--authorization-kubeconfig');
      const clients = { authentication: authentication.client, authorization: authorization.client };
      secure = await SecureServing.prepare(choice, { ...clients, name, clock, logger });
    } catch (error) {
      await close();
      throw error;
    }
  }
  return {
    async start({ registry, live, ready, configuration, debug }) {
      const shutdown = new ShutdownCheck();
      const routes = [
        ...healthRoutes({ live, ready: [...ready, shutdown], logger }),
        metricsRoute(registry),
        configzRoute(...configuration),
        ...debug,
      ];
      const serving = await serve(choice, secure, routes, logger);
      return {
        url: serving.url,
        drain() {
          shutdown.begin();
          serving.drain();
        },
        close: () => serving.close(),
      };
    },
    async close() {
      secure?.stop();
      await close();
    },
  };
}

function serve(
  choice: ServingChoice,
  secure: SecureServing | undefined,
  routes: readonly Route[],
  logger: Logger,
): Promise<Serving> {
  if (choice.kind === 'secure') return secure!.start(routes);
  return startLocalServing({ port: choice.port, portFlag: 'port', handler: new RequestHandler({ routes, logger }) });
}

const nothingServed: ProcessServing = {
  url: undefined,
  drain: () => undefined,
  close: () => Promise.resolve(),
};
