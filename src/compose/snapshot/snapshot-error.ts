import { UserError } from '../../base/user-error.ts';

/** A file is no snapshot that this version can read. The message is one sentence without a period. */
export class SnapshotError extends UserError {
  override readonly name = 'SnapshotError';
}
