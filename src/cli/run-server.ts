import { performance } from 'node:perf_hooks';
import process from 'node:process';
import type { Clock } from '../base/clock.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
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

/**
 * Runs a process until it is interrupted, then resolves to 0, or until it loses the leader election, then resolves to 1. Rejects with
 * KubeconfigError or with the error of `start`. An API server that is unreachable or rejects access does not end the process.
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
  try {
    return await Promise.race([
      interruption.requested().then(() => exitCodes.ok),
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
