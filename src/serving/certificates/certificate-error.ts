import { UserError } from '../../base/user-error.ts';

/** A certificate or a key cannot be used. The message names the flag and the file, and says what would be right. */
export class CertificateError extends UserError {
  override readonly name = 'CertificateError';
}
