import { UserError } from '../base/user-error.ts';

/** No usable configuration for an API server. The message names the file or field, and the remedy. */
export class KubeconfigError extends UserError {
  override readonly name = 'KubeconfigError';
}
