import { tmpdir } from 'node:os';
import { UserError } from '../base/user-error.ts';

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'it is not a folder',
  EACCES: 'this user may not write to it',
  EPERM: 'this user may not write to it',
  EROFS: 'it is read-only',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'no space is left on the device',
};

/** The temporary folder is not writable. The message names the folder and the remedy. */
export class TemporaryFolderError extends UserError {
  override readonly name = 'TemporaryFolderError';

  constructor(what: string, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    super(`cannot write ${what} to ${tmpdir()}: ${problem}. Set TMPDIR to a writable folder`, { cause });
  }
}
