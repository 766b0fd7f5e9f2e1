import { UserError } from '../base/user-error.ts';

const problems: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no room left',
  EDQUOT: 'there is no room left',
  EBADF: 'it is closed',
};

export type OutputStreamName = 'standard output' | 'standard error';

/** What the command says, or logs, cannot be written any more, though nobody has stopped reading it. */
export class OutputError extends UserError {
  override readonly name = 'OutputError';

  constructor(stream: OutputStreamName, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    super(`${stream} cannot be written to: ${problem}. Make room, or redirect it elsewhere`, { cause });
  }
}
