import { Command, InvalidArgumentError, Option } from 'commander';
import { colorOption, withConnectionFlags, withNamespaceFlags, withSchedulerLookupFlags } from '../cluster-flags.ts';
import { exitCodes } from '../exit-codes.ts';
import { withLeaderFlags } from '../explain/leader/leader-flags.ts';
import { subjectArgument } from '../explain/subject-argument.ts';
import type { SubjectArgument } from '../explain/subject-argument.ts';
import { duration } from '../flag-values.ts';
import type { TimelineFlags } from './run-timeline.ts';

/** The implementation. Resolves to the exit code. */
export interface TimelineCommands {
  timeline(subjects: readonly SubjectArgument[], flags: TimelineFlags): Promise<number>;
}

/** Returns `tutti timeline`. It passes its exit code to `onDone`. */
export function timelineCommand(commands: TimelineCommands, onDone: (exitCode: number) => void): Command {
  const command = new Command('timeline')
    .description('Show what happened to pod groups, as the scheduler that leads has recorded it.')
    .argument(
      '[name...]',
      'Pod groups, or pods without a group; group/NAME and pod/NAME are exact. Default: all',
      subjectArgument,
    )
    .addOption(
      new Option(
        '--since <duration>',
        'Only events newer than this, such as 10m. (default: all that is recorded)',
      ).argParser(duration),
    )
    .option('-f, --follow', 'Then print what happens, until you interrupt the command.')
    .addOption(
      new Option(
        '-o, --output <format>',
        'Format of the output. trace: a file for Perfetto or chrome://tracing, with a lane for each pod group.',
      )
        .choices(['table', 'wide', 'json', 'yaml', 'trace'])
        .default('table'),
    )
    .option('--no-headers', 'Print no column headers.')
    .addOption(colorOption())
    .addOption(
      new Option(
        '--scheduler-url <url>',
        'Ask the scheduler at this address, without a token. For tutti up, which prints the address.',
      )
        .argParser(schedulerUrl)
        .conflicts(['tokenFromServiceAccount', 'schedulerTokenFile']),
    )
    .action(async (subjects: readonly SubjectArgument[] | undefined, flags: TimelineFlags, own: Command) => {
      if (flags.follow === true && flags.output === 'trace')
        own.error('error: --follow cannot be combined with -o trace: a trace ends with what has happened so far.');
      onDone(await commands.timeline(subjects ?? [], flags));
    });
  withConnectionFlags(withLeaderFlags(withSchedulerLookupFlags(withNamespaceFlags(command))));
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  The events were printed.\n  ${exitCodes.failed}  The scheduler that leads cannot be found or asked, or has recorded nothing of a named group or pod. With --follow, only the former.`,
  );
}

function schedulerUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' && url.pathname === '/' && url.search === '') return url.origin;
  throw new InvalidArgumentError('It must be a URL without a path, such as http://127.0.0.1:36715.');
}
