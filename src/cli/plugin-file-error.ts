import { UserError } from '../base/user-error.ts';

/** A file named by --plugin cannot be loaded, or exports no plugin. The message says which, why, and what would be right. */
export class PluginFileError extends UserError {
  override readonly name = 'PluginFileError';

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`plugin ${path}: ${problem}`, options);
  }
}
