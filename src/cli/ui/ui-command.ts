import { Command, Option } from 'commander';
import { withConnectionFlags, withSchedulerLookupFlags } from '../cluster-flags.ts';
import { withLeaderFlags } from '../explain/leader/leader-flags.ts';
import { exitCodes } from '../exit-codes.ts';
import { port } from '../flag-values.ts';
import type { UiFlags } from './run-ui.ts';

/** The implementation. Resolves to the exit code. */
export interface UiCommands {
  ui(flags: UiFlags): Promise<number>;
}

/** Returns `tutti ui`. It passes its exit code to `onDone`. */
export function uiCommand(commands: UiCommands, onDone: (exitCode: number) => void): Command {
  const command = new Command('ui')
    .description('Serve a page for your browser that shows pod groups and nodes over time.')
    .addOption(
      new Option('--port <number>', 'Port on 127.0.0.1. 0 selects a free port.')
        .argParser(port('to select a free port'))
        .default(0),
    )
    .action(async (flags: UiFlags) => onDone(await commands.ui(flags)));
  withConnectionFlags(withLeaderFlags(withSchedulerLookupFlags(command)));
  return command.addHelpText(
    'after',
    `\nExit codes:\n  ${exitCodes.ok}  You have interrupted the command.\n  ${exitCodes.failed}  The scheduler that leads cannot be found or asked, or the port is in use.`,
  );
}
