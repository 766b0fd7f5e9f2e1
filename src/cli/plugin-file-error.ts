import { UserError } from '../base/user-error.ts';

/** A file of --plugin cannot be loaded or exports no plugin. The message names the file, the reason and the remedy. */
export class PluginFileError extends UserError {
  override readonly name = 'PluginFileError';

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`plugin ${path}: ${problem}`, options);
  }
}
