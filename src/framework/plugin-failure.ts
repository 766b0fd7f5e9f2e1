import { describeThrown } from './plugin-answers.ts';
import { Status } from './status.ts';

/** What becomes of a plugin that failed: Error, which names plugin and point, unless it threw a Status that says Error itself. */
export function failureOf(plugin: { readonly name: string }, point: string, error: unknown): Status {
  let text = 'it threw something that cannot be looked at';
  let cause: unknown;
  try {
    if (error instanceof Status && error.code === 'Error') return error.from(plugin.name);
    text = error instanceof Status ? error.message : describeThrown(error);
    cause = error;
  } catch {
    // A proxy may throw whatever it is asked. Nobody is to come across it again.
  }
  return new Status('Error', `${plugin.name} failed in ${point}: ${text}`, plugin.name, cause);
}
