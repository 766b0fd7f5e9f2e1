import { UserError } from '../base/user-error.ts';

/** There is no usable way to an API server. The message says which file or field, and what to do. */
export class KubeconfigError extends UserError {
  override readonly name = 'KubeconfigError';
}
