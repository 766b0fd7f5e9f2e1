import { UserError } from '../base/user-error.ts';

const problems: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'disk quota exceeded',
  EBADF: 'it is closed',
};

export type OutputStreamName = 'standard output' | 'standard error';

/** The command cannot write its output or log, although the reader is still there. */
export class OutputError extends UserError {
  override readonly name = 'OutputError';

  constructor(stream: OutputStreamName, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    super(`cannot write to ${stream}: ${problem}. Free some space, or redirect the output`, { cause });
  }
}
