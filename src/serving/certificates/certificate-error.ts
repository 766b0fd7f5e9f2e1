import { UserError } from '../../base/user-error.ts';

/** A certificate or key is unusable. The message names the flag, the file and the remedy. */
export class CertificateError extends UserError {
  override readonly name = 'CertificateError';
}
