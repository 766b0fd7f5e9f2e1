import { UserError } from '../base/user-error.ts';

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  EACCES: 'this user may not write there',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  ENOSPC: 'there is no room left',
  EROFS: 'it cannot be changed',
};

/** A file that a flag asks for cannot be written. */
export class OutputFileError extends UserError {
  override readonly name = 'OutputFileError';

  constructor(what: string, path: string, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    super(`cannot write ${what} to ${path}: ${problem}. Give the path of a file that can be written`, { cause });
  }
}
