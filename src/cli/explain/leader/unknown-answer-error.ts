import { UserError } from '../../../base/user-error.ts';

/** The scheduler's answer has another form than this version knows. */
export class UnknownAnswerError extends UserError {
  override readonly name = 'UnknownAnswerError';

  constructor(path: string) {
    super(`the answer of the scheduler at ${path} has an unknown form: use the same version of tutti as the scheduler`);
  }
}
