import { UserError } from '../../base/user-error.ts';

/** The configuration of an extender is invalid. The message names the field and the expected value. */
export class ExtenderConfigurationError extends UserError {
  override readonly name = 'ExtenderConfigurationError';
}
