import { UserError } from '../../base/user-error.ts';

/** An extender is configured in a way that cannot work; the message says which field, and what would be right. */
export class ExtenderConfigurationError extends UserError {
  override readonly name = 'ExtenderConfigurationError';
}
