import { CommanderError } from 'commander';
import { systemClock } from '../base/system-clock.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import { ManifestError } from './manifests/manifest.ts';
import { packageFile } from './package-files.ts';
import { createProgram } from './program.ts';
import type { Commands, ControllerFlags, SchedulerFlags, UpFlags } from './program.ts';

/** Runs the command line of a process. Answers what it shall exit with; what went wrong is on its standard error. */
export async function runCli(process: NodeJS.Process): Promise<number> {
  // While code is only being loaded there is nothing to stop, and a signal may simply kill the process.
  let interruption: Interruption | undefined;
  const { stdout, stderr, env: environment } = process;
  for (const stream of [stdout, stderr]) {
    // A reader that has gone (`tutti up | head`) is a wish to end, not an error to die of.
    stream.on('error', () => (interruption === undefined ? process.exit() : interruption.interrupt('SIGPIPE')));
  }
  const begin = (): CommandContext => ({
    stdout,
    stderr,
    environment,
    interruption: (interruption = new Interruption(process, systemClock)),
    onExit: (callback) => void process.once('exit', callback),
    clock: systemClock,
    random: Math.random,
  });
  let exitCode: number = exitCodes.ok;
  const program = createProgram(commandsThat(begin), (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(process.argv);
    return exitCode;
  } catch (error) {
    // Commander has already said what is wrong, and where to find help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    stderr.write(`${explain(error)}\n`);
    return interruption?.exitCode ?? exitCodes.failed;
  } finally {
    interruption?.dispose();
  }
}

/** The commands' code is loaded when it is called for, so that help and version come at once. */
function commandsThat(begin: () => CommandContext): Commands {
  return {
    async up(flags: UpFlags) {
      const { runUp } = await import('./up/run-up.ts');
      const { file, exit = false, naive = false, timeout: timeoutMs, ...rest } = flags;
      const files = file ?? [packageFile('examples', 'deadlock', 'manifests.yaml')];
      return runUp({ ...rest, files, exit, naive, timeoutMs }, begin());
    },
    async scheduler(flags: SchedulerFlags) {
      const [{ runServer }, { runScheduler }, { defaultProfile }] = await Promise.all([
        import('./run-server.ts'),
        import('../compose/scheduler.ts'),
        import('../config/scheduler-configuration.ts'),
      ]);
      const { schedulerName: schedulerNames = ['tutti'] } = flags;
      const profiles = schedulerNames.map(defaultProfile);
      return runServer('scheduler', flags, begin(), ({ qps, burst, ...parts }) =>
        runScheduler({ ...parts, configuration: { profiles, clientConnection: { qps, burst } } }),
      );
    },
    async controller(flags: ControllerFlags) {
      const [{ runServer }, { runController }] = await Promise.all([
        import('./run-server.ts'),
        import('../compose/controller.ts'),
      ]);
      const { workers } = flags;
      return runServer('controller', flags, begin(), (parts) => runController({ ...parts, workers }));
    },
  };
}

/** Errors that a user can do something about, by name; all others are ours, and their stack is needed to find them. */
const forUsers = new Set([
  'KubeconfigError',
  'PortTakenError',
  'PortUnavailableError',
  'ConnectionError',
  'TimeoutError',
]);

function explain(error: unknown): string {
  if (!(error instanceof Error)) return `tutti: ${String(error)}`;
  if (error instanceof ManifestError)
    return ['tutti: the manifests cannot be applied:', ...error.problems].join('\n  ');
  if (forUsers.has(error.name)) return `tutti: ${error.message}`;
  return `tutti: this should not happen; please report it: ${error.stack ?? error.message}`;
}
