import type { ParsedConfiguration } from '../config/parse-configuration.ts';
import { ProfileError } from '../framework/profile-error.ts';

/** Runs what is made of the file's configuration; rejects with ConfigurationError, which has lines, in the place of a ProfileError. */
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
