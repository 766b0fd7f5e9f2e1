import { UserError } from '../../base/user-error.ts';

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'no such directory',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'part of the path is not a directory',
  ENOSPC: 'no space left on the device',
  EROFS: 'the file system is read-only',
};

/** An output file of a flag cannot be written. */
export class OutputFileError extends UserError {
  override readonly name = 'OutputFileError';

  constructor(what: string, path: string, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    super(`cannot write ${what} to ${path}: ${problem}. Use the path of a writable file`, { cause });
  }
}
