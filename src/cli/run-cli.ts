import { parse } from 'node:path';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { systemClock } from '../base/system-clock.ts';
import { UserError } from '../base/user-error.ts';
import { safeLines } from '../base/safe-text.ts';
import { explainRejection } from '../client/access-denied-error.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';
import { interruptWhenOrphaned } from './interrupt-when-orphaned.ts';
import { Interruption } from './interruption.ts';
import { OutputError } from './output-error.ts';
import type { OutputStreamName } from './output-error.ts';
import { packageFile } from '../base/package-files.ts';
import { createProgram } from './program.ts';
import type { Commands, ConfigCheckFlags, ControllerFlags, SchedulerFlags, UpFlags, VerifyFlags } from './program.ts';

/** Error codes of a write whose reader has gone (`tutti up | head`). They end the command like a signal and are not an error. */
const readerGoneCodes = new Set(['EPIPE', 'ECONNRESET', 'EIO', 'ERR_STREAM_DESTROYED']);

/** Runs the command line of a process. Resolves to the exit code. Errors are on standard error. */
export async function runCli(process: NodeJS.Process): Promise<number> {
  // While code is loading there is nothing to stop, so a signal may simply kill the process.
  let interruption: Interruption | undefined;
  let unwritable: OutputError | undefined;
  let stopOrphanCheck: (() => void) | undefined;
  const { stdout, stderr, env: environment } = process;
  const onWriteError = (stream: OutputStreamName, error: NodeJS.ErrnoException): void => {
    if (!readerGoneCodes.has(error.code ?? '') && unwritable === undefined) {
      unwritable = new OutputError(stream, error);
      stderr.write(`${explain(unwritable)}\n`);
    }
    if (interruption === undefined) process.exit(unwritable === undefined ? exitCodes.ok : exitCodes.failed);
    // The exit code reports the error even if stopping takes too long.
    interruption.interrupt('SIGPIPE', unwritable === undefined ? undefined : exitCodes.failed);
  };
  stdout.on('error', (error: NodeJS.ErrnoException) => onWriteError('standard output', error));
  stderr.on('error', (error: NodeJS.ErrnoException) => onWriteError('standard error', error));
  const begin = (): CommandContext => {
    interruption = new Interruption(process, systemClock);
    if (environment.npm_lifecycle_event !== undefined)
      stopOrphanCheck = interruptWhenOrphaned(process, interruption, systemClock);
    return {
      stdout,
      stderr,
      // Reading process.stdin opens it.
      keyboard: isatty(0) ? process.stdin : undefined,
      readInput: () => text(process.stdin),
      environment,
      interruption,
      onExit: (callback) => void process.once('exit', callback),
      clock: systemClock,
      random: Math.random,
    };
  };
  const run = async (): Promise<number> => {
    let exitCode: number = exitCodes.ok;
    try {
      const program = createProgram(
        createCommands(begin),
        (code) => {
          exitCode = code;
        },
        programName(process.argv[1]),
      );
      const completed = wordsToComplete(process.argv);
      if (completed === undefined) await program.parseAsync(process.argv);
      else await printCompletion(completed, program, process);
      return exitCode;
    } catch (error) {
      // Commander has already printed the error and where to find help.
      if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
      stderr.write(`${explain(error)}\n`);
      return interruption?.exitCode ?? exitCodes.failed;
    }
  };
  try {
    const exitCode = await run();
    await Promise.all([written(stdout), written(stderr)]);
    await new Promise((resolve) => setImmediate(resolve)); // a failed write is reported only after it
    return unwritable === undefined ? exitCode : exitCodes.failed;
  } finally {
    stopOrphanCheck?.();
    interruption?.dispose();
  }
}

/** Resolves once the reader has everything, or is gone. A pipe takes 64 KiB at a time, and the exit of the process loses the rest. */
function written(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}

/** Returns the commands. Each loads its code when it runs, so that --help and --version are fast. */
function createCommands(begin: () => CommandContext): Commands {
  return {
    async up(flags: UpFlags) {
      const [{ runUp }, plugins] = await Promise.all([import('./up/run-up.ts'), loadedPlugins(flags.plugin)]);
      const {
        file,
        empty = false,
        exit = false,
        naive = false,
        nodeResource = {},
        timeout: timeoutMs,
        ...rest
      } = flags;
      const isEmpty = empty || !flags.scheduler;
      const files = file ?? (isEmpty ? [] : [packageFile('examples', 'deadlock', 'manifests.yaml')]);
      return runUp({ ...rest, files, exit, naive, nodeResource, timeoutMs, plugins }, begin());
    },
    async scheduler(flags: SchedulerFlags) {
      const [{ runSchedulerCommand }, plugins] = await Promise.all([
        import('./run-scheduler-command.ts'),
        loadedPlugins(flags.plugin),
      ]);
      return runSchedulerCommand(flags, plugins, begin());
    },
    async controller(flags: ControllerFlags) {
      const { runControllerCommand } = await import('./run-controller-command.ts');
      return runControllerCommand(flags, begin());
    },
    async configCheck(files: readonly string[], { verbose, plugin, output }: ConfigCheckFlags) {
      const [{ runConfigCheck }, plugins] = await Promise.all([import('./run-config-check.ts'), loadedPlugins(plugin)]);
      return runConfigCheck(files, { verbose: verbose === true, plugins, output }, begin().stdout);
    },
    async verify(flags: VerifyFlags) {
      const { kubeconfig, context, gang, timeout: timeoutMs, namespace, schedulerName, image, output } = flags;
      const { runVerify } = await import('./verify/run-verify.ts');
      const options = {
        ...(kubeconfig !== undefined && { kubeconfig }),
        ...(context !== undefined && { context }),
        ...(gang === true && { gang: { namespace, schedulerName, image } }),
        timeoutMs,
        output,
      };
      return runVerify(options, begin());
    },
    async status(subjects, flags) {
      const { runStatus } = await import('./explain/status/run-status.ts');
      return runStatus(subjects, flags, begin());
    },
    async why(subject, flags) {
      const { runWhy } = await import('./explain/why/run-why.ts');
      return runWhy(subject, flags, begin());
    },
    async plan(flags) {
      const { runPlan } = await import('./explain/plan/run-plan.ts');
      return runPlan(flags, begin());
    },
    async drainCheck(nodes, flags) {
      const { runDrainCheck } = await import('./explain/drain-check/run-drain-check.ts');
      return runDrainCheck(nodes, flags, begin());
    },
    async queue(flags) {
      const { runQueue } = await import('./explain/queue/run-queue.ts');
      return runQueue(flags, begin());
    },
    async snapshot(flags) {
      const { runSnapshot } = await import('./explain/snapshot/run-snapshot.ts');
      return runSnapshot(flags, begin());
    },
    async explain(subject, flags) {
      const { runReplay } = await import('./explain/snapshot/run-replay.ts');
      return runReplay(subject, flags, begin());
    },
    async timeline(subjects, flags) {
      const { runTimeline } = await import('./timeline/run-timeline.ts');
      return runTimeline(subjects, flags, begin());
    },
    async ui(flags) {
      const { runUi } = await import('./ui/run-ui.ts');
      return runUi(flags, begin());
    },
    async completion(shell) {
      const { completionScript } = await import('./completion/shell-scripts.ts');
      begin().stdout.write(completionScript(shell));
      return exitCodes.ok;
    },
    async version(flags) {
      const { runVersion } = await import('./explain/version/run-version.ts');
      return runVersion(flags, begin());
    },
  };
}

/**
 * Returns the words of the command line that the shell wants to be completed; undefined: this is no such call. kubectl calls
 * `kubectl_complete-tutti`, and the shell functions call `tutti __complete`.
 */
function wordsToComplete([, path = '', first, ...rest]: readonly string[]): readonly string[] | undefined {
  if (parse(path).name === 'kubectl_complete-tutti') return first === undefined ? [''] : [first, ...rest];
  return first === '__complete' ? rest : undefined;
}

/** Prints the candidates. Prints none if anything fails: a message would end up in the user's command line. */
async function printCompletion(
  words: readonly string[],
  program: Command,
  { stdout }: Pick<NodeJS.Process, 'stdout'>,
): Promise<void> {
  const [{ complete }, { namesInCluster }, { completionLines }] = await Promise.all([
    import('./completion/complete.ts'),
    import('./completion/look-up-names.ts'),
    import('./completion/completion.ts'),
  ]);
  const lines = completionLines(await complete(words, program, namesInCluster(systemClock)));
  stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** Returns how the user has called the program: kubectl starts its plugins under their own file name. */
function programName(path = ''): string {
  return parse(path).name === 'kubectl-tutti' ? 'kubectl tutti' : 'tutti';
}

async function loadedPlugins(paths: readonly string[] = []): Promise<readonly OwnPlugin[]> {
  return paths.length === 0 ? [] : (await import('./load-plugins.ts')).loadPlugins(paths);
}

function explain(thrown: unknown): string {
  return safeLines(describeError(thrown));
}

function describeError(thrown: unknown): string {
  const error = explainRejection(thrown);
  if (error instanceof UserError) return `tutti: ${error.message}`;
  if (!(error instanceof Error)) return `tutti: ${String(error)}`;
  return `tutti: unexpected error, please report it: ${error.stack ?? error.message}`;
}
