import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { jitteredBackoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import { AccessDeniedError, explainRejection } from '../client/access-denied-error.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { KubeClient } from '../client/kube-client.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { HttpTransport } from '../client/http/http-transport.ts';
import { wait } from '../client/wait.ts';
import type { ServingChoice } from '../compose/process-serving.ts';
import type { RunningProcess } from '../compose/running-process.ts';
import { createLogger } from '../observability/logger.ts';
import type { LogFormat, Logger, LogLevel } from '../observability/logger.ts';
import type { SecureServingOptions } from '../serving/secure-serving-options.ts';
import { collectWhenQuiet } from './collect-when-quiet.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';

/** Flags that the scheduler and the controller share. */
export interface ServerOptions extends SecureServingOptions {
  readonly kubeconfig?: string;
  /** Source of `kubeconfig` for error messages, if it is not the flag. */
  readonly kubeconfigFrom?: string;
  readonly context?: string;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Dependencies that the scheduler and the controller share. */
export interface ServerParts {
  readonly endpoint: Endpoint;
  readonly serving: ServingChoice;
  readonly qps: number;
  readonly burst: number;
  readonly logger: Logger;
}

/** Time that a server has to stop after a signal. Less than a pod's default grace period (30 s). */
const stopTimeoutMs = 25_000;
const probeBackoff = { initialMs: 1_000, maxMs: 30_000 };
const probeTimeoutMs = 5_000;

/**
 * Runs a process until it is interrupted, then resolves to 0, or until it loses the leader election, then resolves to 1. Rejects with
 * KubeconfigError or with the error of `start`. An API server that is unreachable or rejects access does not end the process: it logs the
 * problem and the remedy, and retries.
 */
export async function runServer(
  name: string,
  options: ServerOptions,
  context: CommandContext,
  start: (parts: ServerParts) => Promise<RunningProcess>,
): Promise<number> {
  const { clock, interruption } = context;
  const logger = createLogger({ level: options.logLevel, format: options.logFormat, destination: context.stderr });
  const endpoint = await loadKubeconfig({
    clock,
    environment: context.environment,
    ...(options.kubeconfig === undefined ? {} : { path: options.kubeconfig }),
    ...(options.kubeconfigFrom === undefined ? {} : { pathFrom: options.kubeconfigFrom }),
    ...(options.context === undefined ? {} : { context: options.context }),
  });
  const running = await start({
    endpoint,
    serving: { kind: 'secure', ...options },
    qps: options.kubeApiQps,
    burst: options.kubeApiBurst,
    logger,
  });
  logger.info(`${name} started`, {
    server: endpoint.server,
    kubeconfig: endpoint.source,
    context: endpoint.contextName,
    ...(running.url !== undefined && { metrics: `${running.url}/metrics`, health: `${running.url}/healthz` }),
  });
  // A process that is still starting has nothing to finish, so the longer limit applies only from here on.
  interruption.allow(stopTimeoutMs);
  const stopCollecting = compactHeapWhenQuiet(clock);
  const interrupted = Promise.all([interruption.requested(), logReachability(endpoint, context, logger)]);
  try {
    return await Promise.race([
      interrupted.then(() => exitCodes.ok),
      // A former leader must start again as a new process, without its old state.
      running.lost.then(() => exitCodes.failed),
    ]);
  } finally {
    logger.info(`${name} stops`);
    stopCollecting();
    await running.stop();
  }
}

/** Compacts the heap when the process is quiet. Requires --expose-gc, which the first line of dist/cli.js sets. Returns a function that stops it. */
function compactHeapWhenQuiet(clock: Clock): () => void {
  const { gc } = globalThis;
  if (gc === undefined) return () => undefined;
  return collectWhenQuiet({
    clock,
    utilization: (now, before) => performance.eventLoopUtilization(now, before),
    usedHeap: () => process.memoryUsage().heapUsed,
    collect: () => gc({ type: 'major', flavor: 'last-resort', execution: 'sync' }),
  });
}

const problems = {
  unreachable: 'cannot reach the API server, retrying',
  rejected: 'API server rejects access, retrying',
} as const;

/** Calls the API server until it responds. Logs each problem once, and the first success. */
async function logReachability(endpoint: Endpoint, context: CommandContext, logger: Logger): Promise<void> {
  const { clock, random, interruption } = context;
  const transport = new HttpTransport({ endpoint, callConnections: 1 });
  const client = new KubeClient({ transport, clock, timeoutMs: probeTimeoutMs, userAgent: 'tutti-probe' });
  const { signal } = interruption;
  let logged: keyof typeof problems | undefined;
  try {
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        const { gitVersion } = await client.get<{ readonly gitVersion?: string }>('/version', { signal });
        logger.info('API server reached', { server: endpoint.server, version: gitVersion });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const shown = explainRejection(error);
        const fields = { server: endpoint.server, error: messageOf(shown) };
        const problem = shown instanceof AccessDeniedError ? 'rejected' : 'unreachable';
        if (problem !== logged) logger.error(problems[problem], fields);
        else logger.debug('API server still unavailable', fields);
        logged = problem;
        await wait(clock, jitteredBackoff(probeBackoff, attempt, random), signal).catch(() => undefined);
      }
    }
  } finally {
    await transport.close();
  }
}
