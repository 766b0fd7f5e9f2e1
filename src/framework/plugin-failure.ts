import { describeThrown } from './plugin-answers.ts';
import { Status } from './status.ts';

/** A plugin failed where no Status can be answered; `status` names it. */
export class PluginFailure extends Error {
  override readonly name = 'PluginFailure';
  readonly status: Status;

  constructor(status: Status) {
    super(status.message, { cause: status.cause });
    this.status = status;
  }
}

/** What becomes of a plugin that failed: Error, which names plugin and point, unless it threw a Status that says Error itself. */
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
    return undefined; // a proxy may throw whatever it is asked
  }
}
