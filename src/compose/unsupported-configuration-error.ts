import { UserError } from '../base/user-error.ts';

/** The configuration is valid and asks for something that Tutti cannot do; to go on without it would do something else. */
export class UnsupportedConfigurationError extends UserError {
  override readonly name = 'UnsupportedConfigurationError';
}
