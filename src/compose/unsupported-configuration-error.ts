import { UserError } from '../base/user-error.ts';

/** The configuration is valid but needs a feature that Tutti does not have; ignoring it would change the behavior. */
export class UnsupportedConfigurationError extends UserError {
  override readonly name = 'UnsupportedConfigurationError';
}
