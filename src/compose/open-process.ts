import { uptime } from 'node:os';
import { clockThatCountsSleep } from '../base/clock-that-counts-sleep.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { ApiError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { LeaderElector } from '../client/leader-elector.ts';
import { WriteFence } from '../client/write-fence.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { connectToApi } from './api-connection.ts';
import type { ApiConnectionOptions } from './api-connection.ts';
import { startLeaderElection } from './candidacy.ts';
import { processIdentity } from './process-identity.ts';
import { processRegistry } from './process-registry.ts';
import { prepareServing } from './process-serving.ts';
import type { ProcessServing, ServingChoice, ShownParts } from './process-serving.ts';

export interface OpenProcessOptions {
  /** `tutti-scheduler`: the user agent, and the name of certificates. */
  readonly name: string;
  readonly api: Pick<ApiConnectionOptions, 'endpoint' | 'kubeconfig' | 'context' | 'qps' | 'burst'>;
  readonly serving: ServingChoice;
  /** Absent, or without `leaderElect`: this process is the only one and always leads. */
  readonly leaderElection: LeaderElectionConfiguration | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The common parts of all processes. */
export interface OpenProcess {
  readonly identity: string;
  readonly registry: MetricRegistry;
  readonly client: KubeClient;
  /** Undefined without leader election. */
  readonly fence: WriteFence | undefined;
  /** Starts serving; rejects with PortUnavailableError. */
  serve(shown: Omit<ShownParts, 'registry'>): Promise<ProcessServing>;
  /** Starts the leader election; undefined without one. */
  startElection(): LeaderElector | undefined;
  /** Logs that the API server is reached, and its version, once it has accepted the first lists. Before, ApiAccessLog may log problems. */
  logReached(listed: Promise<void>): void;
  /** Closes the connections; stop serving and the election first. */
  close(): Promise<void>;
}

/**
 * Opens the common parts, before anything is started. Rejects with KubeconfigError, CertificateError or
 * AuthenticationLookupError; it then closes everything that it has opened.
 */
export async function openProcess(options: OpenProcessOptions): Promise<OpenProcess> {
  const { name, api, clock, random, logger, leaderElection } = options;
  // The clocks of the other candidates run while this machine sleeps.
  const leaseClock = clockThatCountsSleep(clock, () => uptimeMs(clock));
  const fence = leaderElection?.leaderElect === true ? new WriteFence(leaseClock) : undefined;
  const registry = processRegistry();
  const identity = processIdentity();
  const connection = await connectToApi({
    ...api,
    ...(fence !== undefined && { fence }),
    registry,
    logger,
    accessLogger: logger,
    clock,
    userAgent: name,
  });
  const { client, server } = connection;
  const prepared = await prepareServing({ choice: options.serving, name, api, clock, logger }).catch(
    async (error: unknown) => {
      await connection.close();
      throw error;
    },
  );
  return {
    identity,
    registry,
    client,
    fence,
    serve: (shown) => prepared.start({ ...shown, registry }),
    startElection: () =>
      fence &&
      startLeaderElection({
        ...{ configuration: leaderElection!, identity, client, fence },
        ...{ clock: leaseClock, random, logger, registry },
      }),
    logReached(listed) {
      listed
        .then(async () => logger.info('API server reached', { server, version: await versionOf(client) }))
        .catch((error: unknown) => logger.debug('API server not reached', { error })); // the process has stopped
    },
    async close() {
      await prepared.close();
      await connection.close();
    },
  };
}

/** Returns undefined if this user may not read the version. */
async function versionOf(client: KubeClient): Promise<string | undefined> {
  try {
    return (await client.get<{ readonly gitVersion?: string }>('/version')).gitVersion;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

function uptimeMs(clock: Clock): number {
  try {
    return uptime() * 1_000;
  } catch {
    return clock.monotonic(); // not available in some sandboxes; then sleep is not detected
  }
}
