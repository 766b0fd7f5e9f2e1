import { messageOf } from '../../base/message-of.ts';
import { UserError } from '../../base/user-error.ts';
import { safeLines } from '../../base/safe-text.ts';
import { explainRejection } from '../../client/access-denied-error.ts';
import { ApiError, MalformedAnswerError } from '../../client/api-errors.ts';
import { wait } from '../../client/wait.ts';
import { connectToApi } from '../../compose/api-connection.ts';
import { formatDuration } from '../../base/format-duration.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-codes.ts';
import { serialize } from '../output/serialize.ts';
import { tryGang } from './gang-dry-run.ts';
import { podGroupProblem } from './pod-group-problem.ts';

export interface VerifyOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Absent: the check creates no pods. */
  readonly gang?: {
    readonly namespace: string;
    readonly schedulerName: string;
    readonly image: string;
  };
  /** Limit for each check. */
  readonly timeoutMs: number;
  readonly output: 'text' | 'json';
}

/** The result of one check, as `-o json` prints it. */
interface CheckResult {
  readonly passed: boolean;
  /** What was found, or why it failed. */
  readonly message: string;
}

/** The API server needs a moment to publish a new CRD. */
const crdTimeoutMs = 10_000;

/**
 * Checks that a cluster can run Tutti, and prints one line per check as soon as it ends, or all as JSON at the end. Resolves to 0 if all checks pass. Stops at the first check that fails
 * and resolves to 1. Rejects with KubeconfigError.
 */
export async function runVerify(options: VerifyOptions, context: CommandContext): Promise<number> {
  const { clock, random, stdout, interruption } = context;
  const { signal } = interruption;
  const { kubeconfig, context: contextName, timeoutMs } = options;
  const connection = await connectToApi({
    clock,
    userAgent: 'tutti-verify',
    qps: 50,
    burst: 100,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(contextName !== undefined && { context: contextName }),
  });
  const { client, server } = connection;
  const checks: readonly (() => Promise<string>)[] = [
    async () => {
      const { gitVersion } = await client.get<{ readonly gitVersion: string }>('/version', { signal });
      return `${server} responds: Kubernetes ${gitVersion}`;
    },
    async () => {
      const until = clock.monotonic() + Math.min(crdTimeoutMs, timeoutMs);
      for (;;) {
        const problem = await podGroupProblem(client, signal);
        if (problem === undefined) return 'the PodGroup CRD has all fields that Tutti writes';
        if (clock.monotonic() >= until) throw new CheckFailure(problem);
        await wait(clock, 500, signal);
      }
    },
    ...(options.gang === undefined ? [] : [dryRun(options.gang)]),
  ];
  function dryRun(gang: NonNullable<VerifyOptions['gang']>): () => Promise<string> {
    return async () => {
      const result = await tryGang({ ...gang, timeoutMs, client, clock, random, signal });
      if (!result.bound) throw new CheckFailure(result.problem);
      const nodes = [...new Set(result.nodes)].join(' and ');
      return `a gang of ${result.nodes.length} for ${gang.schedulerName} was bound to ${nodes} within ${formatDuration(Math.ceil(result.tookMs))}`;
    };
  }
  const results: CheckResult[] = [];
  const report = (result: CheckResult): void => {
    results.push(result);
    const { passed, message } = result;
    if (options.output === 'text') stdout.write(`${passed ? 'ok    ' : 'FAILED'} ${safeLines(message)}\n`);
  };
  try {
    for (const check of checks) {
      try {
        report({ passed: true, message: await check() });
      } catch (error) {
        if (signal.aborted) return interruption.exitCode ?? exitCodes.failed;
        if (!isAboutTheCluster(error)) throw error;
        report({ passed: false, message: messageOf(explainRejection(error)) });
        break;
      }
    }
    const passed = results.every((result) => result.passed);
    if (options.output === 'json') stdout.write(serialize({ passed, checks: results }, 'json'));
    return passed ? exitCodes.ok : exitCodes.failed;
  } finally {
    await connection.close();
  }
}

function isAboutTheCluster(error: unknown): boolean {
  return [CheckFailure, ApiError, MalformedAnswerError, UserError].some((kind) => error instanceof kind);
}

class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
}
