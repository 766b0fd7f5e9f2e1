import { Command, Option } from 'commander';
import { logFormats, logLevels } from '../observability/logger.ts';
import type { LogFormat, LogLevel } from '../observability/logger.ts';
import { defaultSecurePorts } from '../serving/secure-serving-options.ts';
import { exitCodes } from './exit-codes.ts';
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
import type { ServerOptions } from './run-server.ts';
import { withRejectedFlags } from './rejected-flags.ts';
import { withServingOptions } from './serving-options.ts';

/** The flags of `tutti up`, as given. */
export interface UpFlags {
  /** Absent: the example that comes with the package. */
  readonly file?: readonly string[];
  /** Absent: they are not empty. */
  readonly empty?: true;
  readonly exit?: true;
  readonly naive?: true;
  /** False: none runs. */
  readonly scheduler: boolean;
  /** Absent: 2, and none where the files hold Nodes. */
  readonly nodes?: number;
  readonly nodeCpu: string;
  readonly nodeMemory: string;
  readonly nodePods: number;
  /** More of what each node has: resource name -> quantity. */
  readonly nodeResource?: Readonly<Record<string, string>>;
  readonly port: number;
  /** A path. */
  readonly kubeconfig?: string;
  /** Paths. */
  readonly plugin?: readonly string[];
  readonly timeout: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

export interface SchedulerFlags extends ServerOptions, LeaderElectionFlags {
  /** Absent: `tutti`. */
  readonly schedulerName?: readonly string[];
  /** Paths. */
  readonly plugin?: readonly string[];
  /** A KubeSchedulerConfiguration. */
  readonly config?: string;
  /** Flags that were given beside `config`, which says what they say. */
  readonly overruled?: readonly string[];
  readonly writeConfigTo?: string;
}

/** The flags of `tutti config check`. */
export interface ConfigCheckFlags {
  readonly verbose?: true;
  /** Paths. */
  readonly plugin?: readonly string[];
}

export interface ControllerFlags extends ServerOptions, LeaderElectionFlags {
  readonly workers: number;
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
}

/** What the commands do; each answers the exit code. */
export interface Commands {
  up(flags: UpFlags): Promise<number>;
  scheduler(flags: SchedulerFlags): Promise<number>;
  controller(flags: ControllerFlags): Promise<number>;
  configCheck(files: readonly string[], flags: ConfigCheckFlags): Promise<number>;
  verify(flags: VerifyFlags): Promise<number>;
}

/** Names of the Leases, where nobody gives others. */
export const schedulerLease = 'tutti-scheduler';
export const controllerLease = 'tutti-controller';

/** The command line: parsing calls one of the commands and gives its exit code to `onDone`. */
export function createProgram(commands: Commands, onDone: (exitCode: number) => void): Command {
  const program = new Command('tutti')
    .description('Starts the pods of a group on Kubernetes all together or not at all.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('See "tutti --help".')
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
  program.addCommand(helpCommand(program));
  for (const command of program.commands) {
    withHelp(command, command.name());
    for (const inner of command.commands) withHelp(inner, `${command.name()} ${inner.name()}`);
  }
  return program;
}

/** Commander's own answers a name that it does not know with all of the help, and no word on the name. */
function helpCommand(program: Command): Command {
  return new Command('help')
    .description('print help for a command')
    .argument('[command]')
    .action((name: string | undefined, _flags: object, help: Command) => {
      const command = name === undefined ? program : program.commands.find((each) => each.name() === name);
      if (command !== undefined) command.help();
      const names = program.commands.map((each) => each.name());
      const meant = closestName(name!, names);
      help.error(
        `error: unknown command '${name}'${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}\nThere are ${names.join(', ')}.`,
      );
    });
}

function withHelp(command: Command, name: string): void {
  command.exitOverride().helpOption('-h, --help', 'print help').showHelpAfterError(`See "tutti ${name} --help".`);
}

/** What of the flags does not go together; undefined: nothing. */
function upFlagsProblem(
  { exit, empty, file, scheduler, naive, plugin }: UpFlags,
  hasTimeout: boolean,
): string | undefined {
  if (exit !== true && hasTimeout)
    return '--timeout says how long a scenario may take with --exit; without it the plane stays up.';
  if (empty === true && file !== undefined)
    return '--empty begins with nothing, and -f with something: give one of them.';
  if (empty === true && exit === true)
    return '--exit ends with the scenario, and --empty has none: leave out one of them.';
  if (scheduler) return undefined;
  if (exit === true)
    return '--exit ends with the scenario, which nobody moves on with --no-scheduler: leave out one of them.';
  if (naive === true)
    return '--naive is about how the scheduler works, and --no-scheduler runs none: leave out one of them.';
  if (plugin !== undefined)
    return '--plugin is for the scheduler, and --no-scheduler runs none: leave out one of them.';
  return undefined;
}

function upCommand(): Command {
  const { ok, failed, usage, partialStart, incomplete } = exitCodes;
  const command = new Command('up')
    .description(
      'Run a control plane with simulated nodes, controller and scheduler here, and show what happens to a scenario.',
    )
    .option(
      '-f, --file <path>',
      'manifests to apply, in order: a YAML or JSON file, a folder of them, or - for standard input; Nodes among them become simulated nodes; may be given again (default: the red and blue jobs of examples/deadlock)',
      oneMorePath,
    )
    .option('--empty', 'begin with nothing but the nodes')
    .option('--exit', 'end with the scenario and print a summary, instead of staying up for kubectl')
    .option('--naive', 'switch gang scheduling off, to see the deadlock')
    .option('--no-scheduler', 'run no scheduler, for one of yours; begins with nothing unless -f says otherwise')
    .option(
      '--nodes <number>',
      'simulated nodes, beside those of manifests (default: 2, or none where manifests hold Nodes)',
      wholeNumber(0, 5_000),
    )
    .option('--node-cpu <quantity>', 'CPU that each node has for pods', quantity('2 or 500m'), '2')
    .option('--node-memory <quantity>', 'memory that each node has for pods', quantity('8Gi'), '8Gi')
    .option('--node-pods <number>', 'pods that each node takes', wholeNumber(1), 110)
    .option(
      '--node-resource <name=amount>',
      'more that each node has, such as nvidia.com/gpu=8; may be given again, for another resource',
      nodeResource,
    )
    .option('--port <port>', 'port of the API server on 127.0.0.1; 0 for any free one', port('for any free port'), 0)
    .option(
      '--kubeconfig <file>',
      'write the kubeconfig to this file and leave it there, for the same path after every start; a file that tutti up did not write is never overwritten (default: a temporary file)',
    )
    .addOption(pluginOption())
    .addOption(
      new Option('--timeout <duration>', 'with --exit: end after this time in any case')
        .argParser(duration)
        .default(120_000, '120s'),
    );
  return withLogOptions(command, 'warn').addHelpText(
    'after',
    `\nExit codes with --exit: ${ok} every group started whole and everything started; ${partialStart} a group was partly started, or
a deadlock; ${incomplete} something never started or failed, or the time ran out; ${failed} it could not be run; ${usage} wrong flags.`,
  );
}

function schedulerCommand(): Command {
  const command = new Command('scheduler')
    .description('Run the scheduler against the cluster of a kubeconfig.')
    .option(
      '--scheduler-name <name>',
      'schedule the pods with this spec.schedulerName; may be given again (default: tutti)',
      schedulerName,
    )
    .option(
      '--config <file>',
      'KubeSchedulerConfiguration, in YAML or JSON, which goes before --scheduler-name, --kubeconfig, --kube-api-qps and --kube-api-burst',
    )
    .option('--write-config-to <file>', 'write the configuration there, nothing left to defaults, and end')
    .addOption(pluginOption());
  withLeaderElection(command, `${schedulerLease} and the scheduler names that are given; with --config kube-scheduler`);
  return withServerOptions(command, 'scheduler');
}

function pluginOption(): Option {
  return new Option(
    '--plugin <path>',
    'add a plugin of your own, which the file (.ts, .mts, .js, .mjs) exports by default; may be given again',
  ).argParser(oneMorePath);
}

/** As in kube-scheduler, what a configuration file can say is not taken from flags when there is one. */
function overruledFlags(command: Command): readonly string[] {
  const names = ['schedulerName', 'kubeconfig', 'kubeApiQps', 'kubeApiBurst'];
  return command.options
    .filter((option) => names.includes(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => option.long!);
}

function configCommand(check: Command): Command {
  return new Command('config')
    .description('Look at configuration files of the scheduler.')
    .helpCommand('help [command]', 'print help for a command')
    .addCommand(check);
}

function configCheckCommand(): Command {
  return new Command('check')
    .description(
      'Say everything that is wrong with KubeSchedulerConfiguration files, and what a user should know of them.',
    )
    .argument('<file...>', 'files in YAML or JSON')
    .option('--verbose', 'say also which profiles would run, and which plugins at each point')
    .addOption(pluginOption())
    .addHelpText('after', `\nExit codes: ${exitCodes.ok} all files can be used; ${exitCodes.failed} one cannot.`);
}

function controllerCommand(): Command {
  const command = new Command('controller')
    .description('Run the controller that writes the status of PodGroups in the cluster of a kubeconfig.')
    .option('--workers <number>', 'groups that are reconciled at the same time', wholeNumber(1, 1_000), 4);
  withLeaderElection(command, controllerLease);
  return withServerOptions(command, 'controller');
}

function verifyCommand(): Command {
  const command = new Command('verify').description(
    'Say whether gangs can be scheduled in the cluster of a kubeconfig: it answers, and knows PodGroup as Tutti has it.',
  );
  return withKubeconfigOptions(command)
    .option('--gang', 'start a gang of two small pods as well, and take them away again')
    .option('-n, --namespace <name>', 'where the gang is', 'default')
    .option(
      '--scheduler-name <name>',
      'who is to schedule it',
      (text: string) => schedulerName(text, undefined)[0]!,
      'tutti',
    )
    .option('--image <image>', 'of its pods, which need not run', `tutti:${packageVersion()}`)
    .addOption(
      new Option('--timeout <duration>', 'how long each of that may take').argParser(duration).default(60_000, '60s'),
    )
    .addHelpText(
      'after',
      `\nExit codes: ${exitCodes.ok} all is well; ${exitCodes.failed} something is not, and it is said what.`,
    );
}

function withKubeconfigOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <path>',
      'kubeconfig file (default: $KUBECONFIG, then ~/.kube/config, then the service account of the pod)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current-context)');
}

function withServerOptions(command: Command, process: 'scheduler' | 'controller'): Command {
  withKubeconfigOptions(command)
    .option('--kube-api-qps <number>', 'calls a second to the API server; 0 for no limit', rate, 50)
    .option('--kube-api-burst <number>', 'calls to the API server at once', wholeNumber(1), 100);
  withServingOptions(command, defaultSecurePorts[process]);
  withLogOptions(command, 'info')
    .addOption(
      new Option('--logging-format <format>', 'the same as --log-format, as for kube-scheduler').choices(logFormats),
    )
    .addOption(
      new Option(
        '--log-flush-frequency <duration>',
        'as given for kube-scheduler; no effect, every line is written at once',
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
      new Option('--log-level <level>', 'least level of the log lines on standard error')
        .choices(logLevels)
        .default(level),
    )
    .addOption(
      new Option(
        '-v, --v <level>',
        'the same as a number, as for kube-scheduler: info up to 3, debug from 4 on',
      ).argParser(verbosity),
    )
    .hook('preAction', (_, command) => {
      const { v } = command.opts<{ v?: LogLevel }>();
      if (v !== undefined) command.setOptionValueWithSource('logLevel', v, 'cli').setOptionValue('v', undefined);
    })
    .addOption(new Option('--log-format <format>', 'form of the log lines').choices(logFormats).default('text'));
}
