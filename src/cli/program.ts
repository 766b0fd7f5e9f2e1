import { Command, Option } from 'commander';
import { defaultMaxRepairGraceMs } from '../api/pod-group.ts';
import { logFormats, logLevels } from '../observability/logger.ts';
import type { LogFormat, LogLevel } from '../observability/logger.ts';
import { defaultSecurePorts } from '../serving/secure-serving-options.ts';
import { textOrJsonOption, withConnectionFlags } from './cluster-flags.ts';
import { commandExamples, formatExamples } from './command-examples.ts';
import { completionCommand } from './completion/completion-command.ts';
import type { CompletionCommands } from './completion/completion-command.ts';
import { exitCodes } from './exit-codes.ts';
import { explainCommands } from './explain/explain-commands.ts';
import type { ExplainCommands } from './explain/explain-commands.ts';
import {
  duration,
  nodeResource,
  oneMorePath,
  port,
  quantity,
  rate,
  schedulerName,
  verbosity,
  wholeNumber,
} from './flag-values.ts';
import { withLeaderElection } from './leader-election-flags.ts';
import type { LeaderElectionFlags } from './leader-election-flags.ts';
import { closestName } from '../base/closest-name.ts';
import { packageVersion } from '../base/package-files.ts';
import { overruledFlags } from './overruled-flags.ts';
import type { ServerOptions } from './run-server.ts';
import { withRejectedFlags } from './rejected-flags.ts';
import { withServingOptions } from './serving-options.ts';
import { timelineCommand } from './timeline/timeline-command.ts';
import type { TimelineCommands } from './timeline/timeline-command.ts';
import { uiCommand } from './ui/ui-command.ts';
import type { UiCommands } from './ui/ui-command.ts';

/** The flags of `tutti up`. */
export interface UpFlags {
  /** Paths. Absent: the example in the package. */
  readonly file?: readonly string[];
  /** Create no workload, only nodes. */
  readonly empty?: true;
  readonly exit?: true;
  readonly naive?: true;
  /** False: no scheduler runs. */
  readonly scheduler: boolean;
  /** Absent: 2, or 0 if the manifests contain Nodes. */
  readonly nodes?: number;
  readonly nodeCpu: string;
  readonly nodeMemory: string;
  readonly nodePods: number;
  /** Extra resources of each node: resource name -> quantity. */
  readonly nodeResource?: Readonly<Record<string, string>>;
  readonly port: number;
  /** Path of the file to write. */
  readonly kubeconfig?: string;
  /** Paths. */
  readonly plugin?: readonly string[];
  readonly timeout: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

export interface SchedulerFlags extends ServerOptions, LeaderElectionFlags {
  /** Milliseconds. */
  readonly maxRepairGrace: number;
  /** Absent: `tutti`. */
  readonly schedulerName?: readonly string[];
  /** Paths. */
  readonly plugin?: readonly string[];
  /** Path of a KubeSchedulerConfiguration. */
  readonly config?: string;
  /** Flags that `config` overrides, although the user set them. */
  readonly overruled?: readonly string[];
  readonly writeConfigTo?: string;
}

/** The flags of `tutti config check`. */
export interface ConfigCheckFlags {
  readonly verbose?: true;
  /** Paths. */
  readonly plugin?: readonly string[];
  readonly output: 'text' | 'json';
}

export interface ControllerFlags extends ServerOptions, LeaderElectionFlags {
  /** Milliseconds. */
  readonly maxRepairGrace: number;
  readonly workers: number;
  /** Absent: `tutti`. */
  readonly schedulerName?: readonly string[];
  readonly nativePodGroups: boolean;
}

/** The flags of `tutti verify`. */
export interface VerifyFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly gang?: true;
  readonly namespace: string;
  readonly schedulerName: string;
  readonly image: string;
  readonly timeout: number;
  readonly output: 'text' | 'json';
}

/** The implementation of each command. Each resolves to the exit code. */
export interface Commands extends ExplainCommands, TimelineCommands, UiCommands, CompletionCommands {
  up(flags: UpFlags): Promise<number>;
  scheduler(flags: SchedulerFlags): Promise<number>;
  controller(flags: ControllerFlags): Promise<number>;
  configCheck(files: readonly string[], flags: ConfigCheckFlags): Promise<number>;
  verify(flags: VerifyFlags): Promise<number>;
}

/** Default names of the Leases. */
export const schedulerLease = 'tutti-scheduler';
export const controllerLease = 'tutti-controller';

/**
 * Returns the command line parser. Parsing calls one of the commands and passes its exit code to `onDone`. `name`: how the user calls the
 * program.
 */
export function createProgram(commands: Commands, onDone: (exitCode: number) => void, name = 'tutti'): Command {
  const program = new Command(name)
    .description('Tutti is a gang scheduler for Kubernetes: the pods of a group start all together or not at all.')
    .version(packageVersion(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print help.')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError(`See "${name} --help".`)
    .configureHelp({ showGlobalOptions: false });
  program.addCommand(
    upCommand().action(async (flags: UpFlags, command: Command) => {
      const problem = upFlagsProblem(flags, command.getOptionValueSource('timeout') === 'cli');
      if (problem !== undefined) command.error(`error: ${problem}`);
      onDone(await commands.up(flags));
    }),
  );
  program.addCommand(
    schedulerCommand().action(async (flags: SchedulerFlags, command: Command) => {
      const overruled = flags.config === undefined ? [] : overruledFlags(command);
      onDone(await commands.scheduler({ ...flags, ...(overruled.length > 0 && { overruled }) }));
    }),
  );
  program.addCommand(
    controllerCommand().action(async (flags: ControllerFlags) => onDone(await commands.controller(flags))),
  );
  program.addCommand(
    configCommand(
      configCheckCommand().action(async (files: readonly string[], flags: ConfigCheckFlags) =>
        onDone(await commands.configCheck(files, flags)),
      ),
    ),
  );
  program.addCommand(verifyCommand().action(async (flags: VerifyFlags) => onDone(await commands.verify(flags))));
  for (const command of explainCommands(commands, onDone)) program.addCommand(command);
  program.addCommand(timelineCommand(commands, onDone));
  program.addCommand(uiCommand(commands, onDone));
  program.addCommand(completionCommand(commands, onDone));
  program.addCommand(helpCommand(program));
  for (const command of program.commands) {
    withHelp(command, command.name(), name);
    for (const inner of command.commands) withHelp(inner, `${command.name()} ${inner.name()}`, name);
  }
  return program;
}

/** Replaces commander's own help command, which prints the full help for an unknown name without mentioning that name. */
function helpCommand(program: Command): Command {
  return new Command('help')
    .description('Print help for a command.')
    .argument('[command]', 'Name of the command')
    .action((name: string | undefined, _flags: object, help: Command) => {
      const command = name === undefined ? program : program.commands.find((each) => each.name() === name);
      if (command !== undefined) command.help();
      const names = program.commands.map((each) => each.name());
      const meant = closestName(name!, names);
      help.error(
        `error: unknown command '${name}'${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}\nThe commands are ${names.join(', ')}.`,
      );
    });
}

function withHelp(command: Command, name: string, program: string): void {
  command.exitOverride().helpOption('-h, --help', 'Print help.').showHelpAfterError(`See "${program} ${name} --help".`);
  const examples = commandExamples[name];
  if (examples !== undefined) command.addHelpText('after', `\n${formatExamples(examples, program)}`);
}

/** Returns why the flags cannot be combined, or undefined if they can. */
function upFlagsProblem(
  { exit, empty, file, scheduler, naive, plugin }: UpFlags,
  hasTimeout: boolean,
): string | undefined {
  if (exit !== true && hasTimeout) return '--timeout requires --exit: without it the control plane stays up.';
  if (empty === true && file !== undefined) return '--empty cannot be combined with -f: remove one of them.';
  if (empty === true && exit === true)
    return '--exit cannot be combined with --empty: there is no scenario to wait for.';
  if (scheduler) return undefined;
  if (exit === true)
    return '--exit cannot be combined with --no-scheduler: without a scheduler the scenario never ends.';
  if (naive === true) return '--naive cannot be combined with --no-scheduler: it changes how the scheduler works.';
  if (plugin !== undefined) return '--plugin cannot be combined with --no-scheduler: plugins run in the scheduler.';
  return undefined;
}

function upCommand(): Command {
  const { ok, failed, usage, partialStart, incomplete } = exitCodes;
  const command = new Command('up')
    .description(
      'Run a local control plane with simulated nodes, the controller and the scheduler, and show what happens to a scenario.',
    )
    .option(
      '-f, --file <path>',
      'Manifests to apply, in order: a YAML or JSON file, a directory of such files, or - for standard input. Nodes in them become simulated nodes. Can be repeated. (default: the red and blue jobs of examples/deadlock)',
      oneMorePath,
    )
    .option('--empty', 'Create only the nodes, without a workload.')
    .option('--exit', 'Exit when the scenario ends and print a summary, instead of staying up for kubectl.')
    .option('--naive', 'Disable gang scheduling, to show the deadlock.')
    .option('--no-scheduler', 'Run no scheduler, so that you can run your own. Creates no workload unless you set -f.')
    .option(
      '--nodes <number>',
      'Number of simulated nodes, in addition to those in the manifests. (default: 2, or 0 if the manifests contain Nodes)',
      wholeNumber(0, 5_000),
    )
    .option('--node-cpu <quantity>', 'Allocatable CPU of each node.', quantity('2 or 500m'), '2')
    .option('--node-memory <quantity>', 'Allocatable memory of each node.', quantity('8Gi'), '8Gi')
    .option('--node-pods <number>', 'Maximum number of pods on each node.', wholeNumber(1), 110)
    .option(
      '--node-resource <name=amount>',
      'Additional allocatable resource of each node, such as nvidia.com/gpu=8. Can be repeated for other resources.',
      nodeResource,
    )
    .option(
      '--port <port>',
      'Port of the API server on 127.0.0.1. 0 means any free port.',
      port('for any free port'),
      0,
    )
    .option(
      '--kubeconfig <file>',
      'Write the kubeconfig to this file and keep it after the end, so that its path is the same after each start. Never overwrites a file that tutti up did not write. (default: a temporary file)',
    )
    .addOption(pluginOption())
    .addOption(
      new Option('--timeout <duration>', 'With --exit, end after this time even if the scenario has not ended.')
        .argParser(duration)
        .default(120_000, '120s'),
    );
  return withLogOptions(command, 'warn').addHelpText(
    'after',
    `
Exit codes with --exit:
  ${ok}  All pods were scheduled, and the required members of each group were bound together.
  ${failed}  The command could not run.
  ${usage}  The flags are invalid.
  ${partialStart}  A group was partially bound for more than a second or at the end, its pods started one by one because they lack
     its label, or there was a deadlock.
  ${incomplete}  A pod was not scheduled, a group, Job or pod failed, or the timeout expired.`,
  );
}

function schedulerCommand(): Command {
  const command = new Command('scheduler')
    .description('Run the scheduler, which schedules pods and starts the pods of a group all together or not at all.')
    .option(
      '--scheduler-name <name>',
      'Schedule the pods with this spec.schedulerName. Can be repeated. (default: tutti)',
      schedulerName,
    )
    .option(
      '--config <file>',
      'Path to a KubeSchedulerConfiguration file in YAML or JSON. Overrides --scheduler-name, --kubeconfig, --kube-api-qps and --kube-api-burst.',
    )
    .option('--write-config-to <file>', 'Write the configuration with all defaults filled in to this file, and exit.')
    .addOption(maxRepairGraceOption('controller'))
    .addOption(pluginOption());
  withLeaderElection(
    command,
    `${schedulerLease}, with the values of --scheduler-name appended; with --config, kube-scheduler`,
  );
  return withServerOptions(command, 'scheduler');
}

function maxRepairGraceOption(other: 'scheduler' | 'controller'): Option {
  return new Option(
    '--max-repair-grace <duration>',
    `Maximum for spec.repairGraceSeconds of PodGroups, which applies instead of larger values. Set it to the same value for the ${other}.`,
  )
    .argParser(duration)
    .default(defaultMaxRepairGraceMs, '5m');
}

function pluginOption(): Option {
  return new Option(
    '--plugin <path>',
    'Load your own plugin, the default export of this file (.ts, .mts, .js, .mjs). Can be repeated.',
  ).argParser(oneMorePath);
}

function configCommand(check: Command): Command {
  return new Command('config')
    .description('Work with configuration files of the scheduler.')
    .helpCommand('help [command]', 'Print help for a command.')
    .addCommand(check);
}

function configCheckCommand(): Command {
  return new Command('check')
    .description('Check KubeSchedulerConfiguration files and print every error and warning.')
    .argument('<file...>', 'KubeSchedulerConfiguration files in YAML or JSON')
    .option('--verbose', 'Also print the profiles, and the plugins at each extension point.')
    .addOption(pluginOption())
    .addOption(textOrJsonOption())
    .addHelpText(
      'after',
      `\nExit codes:\n  ${exitCodes.ok}  All files are valid.\n  ${exitCodes.failed}  A file has errors.`,
    );
}

function controllerCommand(): Command {
  const command = new Command('controller')
    .description('Run the controller that writes the status of PodGroups.')
    .option('--workers <number>', 'Number of PodGroups to reconcile at the same time.', wholeNumber(1, 1_000), 4)
    .option(
      '--scheduler-name <name>',
      'Write the condition of PodGroups of scheduling.k8s.io whose pods have this spec.schedulerName. Can be repeated. (default: tutti)',
      schedulerName,
    )
    .option('--no-native-pod-groups', 'Do not watch PodGroups of scheduling.k8s.io, and write no condition of theirs.')
    .addOption(maxRepairGraceOption('scheduler'));
  withLeaderElection(command, controllerLease);
  return withServerOptions(command, 'controller');
}

function verifyCommand(): Command {
  const command = new Command('verify').description(
    'Check that a cluster can run Tutti: the API server responds and serves a compatible PodGroup CRD.',
  );
  return withConnectionFlags(command)
    .option('--gang', 'Also schedule a gang of two small pods, then delete it.')
    .option('-n, --namespace <name>', 'Namespace of the gang.', 'default')
    .option(
      '--scheduler-name <name>',
      'Name of the scheduler that must bind the gang.',
      (text: string) => schedulerName(text, undefined)[0]!,
      'tutti',
    )
    .option('--image <image>', 'Image of the pods. They must be bound, but need not run.', `tutti:${packageVersion()}`)
    .addOption(
      new Option('--timeout <duration>', 'Maximum duration of each check.').argParser(duration).default(60_000, '60s'),
    )
    .addOption(textOrJsonOption())
    .addHelpText(
      'after',
      `\nExit codes:\n  ${exitCodes.ok}  All checks passed.\n  ${exitCodes.failed}  A check failed. The output contains the reason.`,
    );
}

function withServerOptions(command: Command, process: 'scheduler' | 'controller'): Command {
  withConnectionFlags(command)
    .option('--kube-api-qps <number>', 'Maximum calls per second to the API server. 0 means no limit.', rate, 50)
    .option('--kube-api-burst <number>', 'Maximum burst of calls to the API server.', wholeNumber(1), 100);
  withServingOptions(command, defaultSecurePorts[process]);
  withLogOptions(command, 'info')
    .addOption(
      new Option('--logging-format <format>', 'Same as --log-format, for compatibility with kube-scheduler.').choices(
        logFormats,
      ),
    )
    .addOption(
      new Option(
        '--log-flush-frequency <duration>',
        'Accepted for compatibility with kube-scheduler. Has no effect: the process writes every line at once.',
      ).argParser(duration),
    )
    .hook('preAction', (_, command) => {
      const { loggingFormat } = command.opts<{ loggingFormat?: LogFormat }>();
      if (loggingFormat === undefined) return;
      command.setOptionValueWithSource('logFormat', loggingFormat, 'cli').setOptionValue('loggingFormat', undefined);
    });
  return withRejectedFlags(command, process);
}

function withLogOptions(command: Command, level: LogLevel): Command {
  return command
    .addOption(
      new Option('--log-level <level>', 'Lowest level of log lines to write to standard error.')
        .choices(logLevels)
        .default(level),
    )
    .addOption(
      new Option(
        '-v, --v <level>',
        'Log level as a number, as in kube-scheduler: 0 to 3 means info, 4 and above means debug.',
      ).argParser(verbosity),
    )
    .hook('preAction', (_, command) => {
      const { v } = command.opts<{ v?: LogLevel }>();
      if (v !== undefined) command.setOptionValueWithSource('logLevel', v, 'cli').setOptionValue('v', undefined);
    })
    .addOption(new Option('--log-format <format>', 'Format of log lines.').choices(logFormats).default('text'));
}
