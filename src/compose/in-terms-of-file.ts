import type { ParsedConfiguration } from '../config/parse-configuration.ts';
import { ProfileError } from '../framework/profile-error.ts';

/**
 * Runs a function that uses the file's configuration. Replaces a ProfileError with a ConfigurationError, which names lines of the
 * file.
 */
export async function inTermsOfFile<T>(
  { errorOf }: Pick<ParsedConfiguration, 'errorOf'>,
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof ProfileError && error.problems.length > 0 ? errorOf(error) : error;
  }
}
