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

const shownFrames = 5;

/** Tutti's own code, in the sources and in the bundle. */
const ownCode = new URL('..', import.meta.url).pathname;

/** Returns where a plugin threw an error: a line such as `at filter (file:///p.ts:2:9)` for each call in its own code. Never throws. */
export function framesOf(thrown: unknown): readonly string[] {
  try {
    if (!(thrown instanceof Error)) return [];
    // The stack begins with the message, which may be a user's text that looks like calls.
    const stack = String(thrown.stack).replace(String(thrown.message), '');
    const frames = stack.split('\n').filter((line) => /^ +at (?!.*\bnode:)/.test(line));
    // Without a call from Tutti, as after an await, all calls are the plugin's.
    const end = frames.findIndex((frame) => frame.includes(ownCode));
    return frames.slice(0, end < 0 ? shownFrames : Math.min(end, shownFrames)).map((frame) => frame.trim());
  } catch {
    return []; // any access to a proxy may throw
  }
}
