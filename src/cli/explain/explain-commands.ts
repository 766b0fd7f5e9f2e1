import { Command, Option } from 'commander';
import {
  withConnectionFlags,
  withNamespaceFlags,
  withPrintFlags,
  withSchedulerLookupFlags,
  withSelectorFlag,
} from '../cluster-flags.ts';
import { exitCodes } from '../exit-codes.ts';
import { colorModes } from '../output/color.ts';
import { namespaceName } from '../flag-values.ts';
import { withLeaderFlags } from './leader/leader-flags.ts';
import type { QueueFlags } from './queue/run-queue.ts';
import type { StatusFlags } from './status/run-status.ts';
import { subjectArgument } from './subject-argument.ts';
import type { SubjectArgument } from './subject-argument.ts';
import type { WhyFlags } from './why/run-why.ts';
import type { VersionFlags } from './version/run-version.ts';

/** The implementation of each command that shows what a cluster does. Each resolves to the exit code. */
export interface ExplainCommands {
  status(subjects: readonly SubjectArgument[], flags: StatusFlags): Promise<number>;
  why(subject: SubjectArgument, flags: WhyFlags): Promise<number>;
  queue(flags: QueueFlags): Promise<number>;
  version(flags: VersionFlags): Promise<number>;
}

/** Returns the commands. Each passes its exit code to `onDone`. */
export function explainCommands(commands: ExplainCommands, onDone: (exitCode: number) => void): readonly Command[] {
  return [
    statusCommand().action(async (subjects: readonly SubjectArgument[] | undefined, flags: StatusFlags) =>
      onDone(await commands.status(subjects ?? [], flags)),
    ),
    whyCommand().action(async ([subject]: readonly SubjectArgument[], flags: WhyFlags) =>
      onDone(await commands.why(subject!, flags)),
    ),
    queueCommand().action(async (flags: QueueFlags) => onDone(await commands.queue(flags))),
    versionCommand().action(async (flags: VersionFlags) => onDone(await commands.version(flags))),
  ];
}

function statusCommand(): Command {
  const command = new Command('status')
    .description('Show the state of pod groups and why they wait, as their conditions and pods show it.')
    .argument('[name...]', 'Pod groups, or pods as pod/NAME. Default: all pod groups', subjectArgument)
    .option('--pods', 'Also show pods that are in no group and name the scheduler.');
  withSchedulerLookupFlags(withSelectorFlag(withNamespaceFlags(command)));
  return withConnectionFlags(withPrintFlags(command)).addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  The list was printed. A part that could not be read is named on standard error.\n  ${exitCodes.failed}  Nothing could be read, or a named group or pod does not exist.`,
  );
}

function whyCommand(): Command {
  const command = new Command('why')
    .description('Explain why a pod group or a pod waits, until when, and what would help.')
    .argument('<name>', 'A pod group, or else a pod; group/NAME and pod/NAME are exact', subjectArgument)
    .addOption(
      new Option('-n, --namespace <name>', 'Namespace. (default: that of the context)').argParser(namespaceName),
    )
    .addOption(
      new Option(
        '--source <source>',
        'What the answer rests on: scheduler asks the scheduler that leads; api plans with all nodes and pods; conditions needs only the objects of the namespace.',
      )
        .choices(['auto', 'scheduler', 'api', 'conditions'])
        .default('auto'),
    )
    .addOption(
      new Option('-o, --output <format>', 'Format of the output.').choices(['text', 'json', 'yaml']).default('text'),
    )
    .addOption(
      new Option('--color <when>', 'Use colors; auto means in a terminal, unless NO_COLOR is set.')
        .choices(colorModes)
        .default('auto'),
    );
  withConnectionFlags(withLeaderFlags(withSchedulerLookupFlags(command)));
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  The explanation was printed.\n  ${exitCodes.failed}  There is no such group or pod, or the cluster could not be read.`,
  );
}

function queueCommand(): Command {
  const command = new Command('queue')
    .description('Show the pods and pod groups that wait, in the order in which the scheduler tries them.')
    .addOption(
      new Option('-n, --namespace <name>', 'Only those of this namespace. (default: all namespaces)').argParser(
        namespaceName,
      ),
    )
    .addOption(
      new Option(
        '--source <source>',
        'Where the queue comes from. scheduler: the scheduler that leads, through a port-forward. api: all nodes, pods and pod groups, listed and ordered here. auto: the scheduler if a token is set, else api.',
      )
        .choices(['auto', 'scheduler', 'api'])
        .default('auto'),
    );
  return withConnectionFlags(withPrintFlags(withLeaderFlags(withSchedulerLookupFlags(command))));
}

function versionCommand(): Command {
  const command = new Command('version')
    .description('Print the version of this program, and that of the scheduler in the cluster.')
    .option('--client', 'Only the version of this program.')
    .addOption(
      new Option(
        '--scheduler-namespace <name>',
        "Namespace of the scheduler's release. (default: all namespaces, or tutti-system if you may not list Deployments everywhere)",
      ).argParser(namespaceName),
    )
    .addOption(
      new Option('-o, --output <format>', 'Format of the output.').choices(['text', 'json', 'yaml']).default('text'),
    );
  return withConnectionFlags(command);
}
