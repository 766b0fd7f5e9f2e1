import { tmpdir } from 'node:os';
import { UserError } from '../base/user-error.ts';

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is not a folder',
  EACCES: 'this user may not write to it',
  EPERM: 'this user may not write to it',
  EROFS: 'it cannot be written to',
  ENOSPC: 'there is no room left in it',
  EDQUOT: 'there is no room left in it',
};

/** The folder for temporary files cannot be written to. The message names it and how to choose another. */
export class TemporaryFolderError extends UserError {
  override readonly name = 'TemporaryFolderError';

  constructor(what: string, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    super(`cannot write ${what} to ${tmpdir()}: ${problem}. Set TMPDIR to a folder that can be written to`, { cause });
  }
}
