import { Command, Option } from 'commander';
import {
  colorOption,
  textJsonOrYamlOption,
  withConnectionFlags,
  withNamespaceFlags,
  withPrintFlags,
  withSchedulerLookupFlags,
  withSelectorFlag,
} from '../cluster-flags.ts';
import { exitCodes } from '../exit-codes.ts';
import { namespaceName, objectName, oneMorePath } from '../flag-values.ts';
import type { DrainCheckFlags } from './drain-check/run-drain-check.ts';
import { withLeaderFlags } from './leader/leader-flags.ts';
import type { PlanFlags } from './plan/run-plan.ts';
import type { QueueFlags } from './queue/run-queue.ts';
import type { ReplayFlags } from './snapshot/run-replay.ts';
import type { SnapshotFlags } from './snapshot/run-snapshot.ts';
import { snapshotOption } from './snapshot/snapshot-flag.ts';
import type { StatusFlags } from './status/run-status.ts';
import { subjectArgument } from './subject-argument.ts';
import type { SubjectArgument } from './subject-argument.ts';
import type { WhyFlags } from './why/run-why.ts';
import type { VersionFlags } from './version/run-version.ts';

/** The implementation of each command that shows what a cluster does. Each resolves to the exit code. */
export interface ExplainCommands {
  status(subjects: readonly SubjectArgument[], flags: StatusFlags): Promise<number>;
  why(subject: SubjectArgument, flags: WhyFlags): Promise<number>;
  plan(flags: PlanFlags): Promise<number>;
  drainCheck(nodes: readonly string[], flags: DrainCheckFlags): Promise<number>;
  queue(flags: QueueFlags): Promise<number>;
  snapshot(flags: SnapshotFlags): Promise<number>;
  explain(subject: SubjectArgument | undefined, flags: ReplayFlags): Promise<number>;
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
    planCommand().action(async (flags: PlanFlags) => onDone(await commands.plan(flags))),
    drainCheckCommand().action(async (nodes: readonly string[], flags: DrainCheckFlags) =>
      onDone(await commands.drainCheck(nodes, flags)),
    ),
    queueCommand().action(async (flags: QueueFlags) => onDone(await commands.queue(flags))),
    snapshotCommand().action(async (flags: SnapshotFlags) => onDone(await commands.snapshot(flags))),
    replayCommand().action(async (subjects: readonly SubjectArgument[] | undefined, flags: ReplayFlags) =>
      onDone(await commands.explain(subjects?.[0], flags)),
    ),
    versionCommand().action(async (flags: VersionFlags) => onDone(await commands.version(flags))),
  ];
}

function statusCommand(): Command {
  const command = new Command('status')
    .description('Show the state of pod groups and why they wait, as their conditions and pods show it.')
    .argument('[name...]', 'Pod groups, or pods as pod/NAME. Default: all pod groups', subjectArgument)
    .option('--pods', 'Also show pods that are in no group and name the scheduler.')
    .option('-w, --watch', 'After the list, print what changes, until you interrupt the command.')
    .addOption(snapshotOption().conflicts(['watch', 'selector']));
  withSchedulerLookupFlags(withSelectorFlag(withNamespaceFlags(command)));
  return withConnectionFlags(withPrintFlags(command)).addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  The list was printed. A part that could not be read is named on standard error.\n  ${exitCodes.failed}  Nothing could be read, or a named group or pod does not exist. With --watch, only the former.`,
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
    .addOption(snapshotOption())
    .addOption(textJsonOrYamlOption())
    .addOption(colorOption());
  withConnectionFlags(withLeaderFlags(withSchedulerLookupFlags(command)));
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  The explanation was printed.\n  ${exitCodes.failed}  There is no such group or pod, or the cluster could not be read.`,
  );
}

function planCommand(): Command {
  const command = new Command('plan')
    .description(
      'Say whether the workloads of manifests would start now, on which nodes, and why not. Creates nothing.',
    )
    .requiredOption(
      '-f, --file <path>',
      'Pods, PodGroups, Jobs, ReplicaSets, Deployments and StatefulSets: a YAML or JSON file, a directory of such files, or - for standard input. Can be repeated; all are planned together.',
      oneMorePath,
    )
    .addOption(
      new Option(
        '-n, --namespace <name>',
        'Namespace of objects that set none. (default: that of the context)',
      ).argParser(namespaceName),
    )
    .option(
      '--local',
      'Send the objects nowhere. By default, the API server checks and completes them by a dry run, if you may create them.',
    )
    .option(
      '--if-version <version>',
      'Plan only if the cluster still has the version that an earlier plan has printed.',
    )
    .addOption(snapshotOption())
    .addOption(textJsonOrYamlOption())
    .addOption(colorOption());
  withConnectionFlags(withSchedulerLookupFlags(command));
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  All of them would start now.\n  ${exitCodes.failed}  The cluster could not be read.\n  ${exitCodes.usage}  The manifests cannot be planned.\n  ${exitCodes.no}  Something would not start now, the API server rejects an object, or the cluster has another version.`,
  );
}

function drainCheckCommand(): Command {
  const command = new Command('drain-check')
    .description('Say what a drain of nodes would do to pod groups. Changes nothing.')
    .argument(
      '<node...>',
      'The nodes that are to be drained together',
      (text, previous: readonly string[] | undefined) => [...(previous ?? []), objectName(text)],
    )
    .addOption(snapshotOption());
  withConnectionFlags(withPrintFlags(withSchedulerLookupFlags(command)));
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  The drain interrupts no group.\n  ${exitCodes.failed}  There is no such node, or the cluster could not be read.\n  ${exitCodes.no}  The drain interrupts, shrinks or strands a group.`,
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
    )
    .addOption(snapshotOption());
  return withConnectionFlags(withPrintFlags(withLeaderFlags(withSchedulerLookupFlags(command))));
}

function snapshotCommand(): Command {
  const command = new Command('snapshot')
    .description('Write what the scheduler knows to a file, for a bug report or for later questions.')
    .option('-o, --output <path>', 'The file to write: JSON, compressed with gzip. -: standard output.', '-')
    .addOption(
      new Option(
        '--source <source>',
        'Whose knowledge. scheduler: that of the scheduler that leads, through a port-forward, with its verdicts. api: all nodes, pods and pod groups, as you list them. auto: the scheduler if a token is set, else api.',
      )
        .choices(['auto', 'scheduler', 'api'])
        .default('auto'),
    )
    .option(
      '--anonymize',
      'Replace names, labels, taints and images. The same name gets the same replacement, and plans stay the same.',
    );
  withConnectionFlags(withLeaderFlags(withSchedulerLookupFlags(command)));
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  The snapshot was written.\n  ${exitCodes.failed}  The cluster could not be read, or the file could not be written.`,
  );
}

function replayCommand(): Command {
  const command = new Command('explain')
    .description('Plan what waits in a snapshot again, and compare the result with what the scheduler found.')
    .argument('[name]', 'A pod group, or else a pod; group/NAME and pod/NAME are exact. Default: all', subjectArgument)
    .addOption(snapshotOption().makeOptionMandatory())
    .addOption(new Option('-n, --namespace <name>', 'Only in this namespace. (default: all)').argParser(namespaceName))
    .addOption(
      new Option('-o, --output <format>', 'Format of the output.')
        .choices(['table', 'wide', 'json', 'yaml'])
        .default('table'),
    )
    .option('--no-headers', 'Print no column headers.')
    .addOption(colorOption());
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  All plans and verdicts that can be compared are the same.\n  ${exitCodes.failed}  The file cannot be read, or it has no such group or pod.\n  ${exitCodes.no}  Something differs.`,
  );
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
    .addOption(textJsonOrYamlOption());
  return withConnectionFlags(command);
}
