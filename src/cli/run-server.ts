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

/** The flags that the long-running processes share. */
export interface ServerOptions extends SecureServingOptions {
  readonly kubeconfig?: string;
  /** What names it, where that is not the flag. */
  readonly kubeconfigFrom?: string;
  readonly context?: string;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** What a process is started with, beside what is its own. */
export interface ServerParts {
  readonly endpoint: Endpoint;
  readonly serving: ServingChoice;
  readonly qps: number;
  readonly burst: number;
  readonly logger: Logger;
}

/** A server may take so long from a signal to its end; less than a kubelet gives it (30 s). */
const stopsWithinMs = 25_000;
const probeBackoff = { initialMs: 1_000, maxMs: 30_000 };
const probeTimeoutMs = 5_000;

/**
 * Runs a process until it is interrupted, and answers 0; or until it has lost the leader election, and answers 1. Rejects with what
 * `start` rejects with, or with KubeconfigError. A server that
 * cannot be reached, or rejects access, ends nothing: it is said, with what can be done, and tried again until it can.
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
  // What is only being opened has begun nothing that would have to be finished.
  interruption.allow(stopsWithinMs);
  const endCollecting = keepSmall(clock);
  const interrupted = Promise.all([interruption.requested(), sayWhetherReachable(endpoint, context, logger)]);
  try {
    return await Promise.race([
      interrupted.then(() => exitCodes.ok),
      // Whoever has led and does so no more begins anew, as a process without a past.
      running.lost.then(() => exitCodes.failed),
    ]);
  } finally {
    logger.info(`${name} stops`);
    endCollecting();
    await running.stop();
  }
}

/** Where V8 lets us (--expose-gc, which is in the first line of dist/cli.js). Answers what ends it. */
function keepSmall(clock: Clock): () => void {
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
  unreachable: 'API server cannot be reached; trying again until it can',
  rejected: 'API server rejects access; trying again until it allows it',
} as const;

/** Says once that the server cannot be reached or rejects, and once that it lets us in; asks until it does. */
async function sayWhetherReachable(endpoint: Endpoint, context: CommandContext, logger: Logger): Promise<void> {
  const { clock, random, interruption } = context;
  const transport = new HttpTransport({ endpoint, callConnections: 1 });
  const client = new KubeClient({ transport, clock, timeoutMs: probeTimeoutMs, userAgent: 'tutti-probe' });
  const { signal } = interruption;
  let said: keyof typeof problems | undefined;
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
        if (problem !== said) logger.error(problems[problem], fields);
        else logger.debug('API server still cannot be used', fields);
        said = problem;
        await wait(clock, jitteredBackoff(probeBackoff, attempt, random), signal).catch(() => undefined);
      }
    }
  } finally {
    await transport.close();
  }
}
