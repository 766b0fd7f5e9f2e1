import { UserError } from '../base/user-error.ts';

/** The configuration names something that cannot be; `message` says what and where. */
export class ProfileError extends UserError {
  override readonly name = 'ProfileError';
}
