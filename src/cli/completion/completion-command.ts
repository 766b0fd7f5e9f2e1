import { Argument, Command } from 'commander';
import { shells } from './shell-scripts.ts';
import type { Shell } from './shell-scripts.ts';

/** The implementation of `tutti completion`. It resolves to the exit code. */
export interface CompletionCommands {
  completion(shell: Shell): Promise<number>;
}

export function completionCommand(commands: CompletionCommands, onDone: (exitCode: number) => void): Command {
  return new Command('completion')
    .description('Print a script that makes the shell complete commands, flags, and names in the cluster.')
    .addArgument(new Argument('<shell>', 'The shell: bash, zsh or fish').choices(shells))
    .action(async (shell: Shell) => onDone(await commands.completion(shell)));
}
