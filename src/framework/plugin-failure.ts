import { describeThrown } from './plugin-answers.ts';
import { Status } from './status.ts';

/** A plugin failed at a point that cannot return a Status; `status` names the plugin. */
export class PluginFailure extends Error {
  override readonly name = 'PluginFailure';
  readonly status: Status;

  constructor(status: Status) {
    super(status.message, { cause: status.cause });
    this.status = status;
  }
}

/** Returns the Error status of a failed plugin. It names plugin and point, unless the plugin threw a Status with code Error. */
export function failureOf(plugin: { readonly name: string }, point: string, error: unknown): Status {
  const status = statusOf(error);
  if (status?.code === 'Error') return status.from(plugin.name);
  const text = status?.message ?? describeThrown(error);
  return new Status('Error', `${plugin.name} failed in ${point}: ${text}`, plugin.name, error);
}

function statusOf(error: unknown): Status | undefined {
  try {
    if (error instanceof PluginFailure) return error.status;
    return error instanceof Status ? error : undefined;
  } catch {
    return undefined; // any access to a proxy may throw
  }
}
