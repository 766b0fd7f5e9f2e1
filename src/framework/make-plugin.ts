import { isPromise } from 'node:util/types';
import { UserError } from '../base/user-error.ts';
import { describe, describeThrown, dropPromise } from './plugin-answers.ts';
import type { Plugin, PluginFactory } from './plugin.ts';
import type { PluginHandle } from './plugin-handle.ts';
import { problemsOfMembers } from './plugin-members.ts';
import { ProfileError } from './profile-error.ts';

const shownFrames = 5;

/** Tutti's own code, in the sources and in the bundle. */
const ownCode = new URL('..', import.meta.url).href;

/** Returns the stack of an error that a factory threw, one line for each call in the plugin's own code. */
function framesOf(thrown: unknown): string {
  const frames = thrown instanceof Error ? (thrown.stack ?? '').split('\n').filter((line) => /^ +at /.test(line)) : [];
  const end = frames.findIndex((frame) => frame.includes(ownCode));
  return frames
    .slice(0, end < 0 ? 0 : Math.min(end, shownFrames))
    .map((frame) => `\n    ${frame.trim()}`)
    .join('');
}

/**
 * Creates a profile's plugin. Its log lines carry its name. Throws a ProfileError that names the plugin and describes the problem. If
 * the factory throws a UserError, the ProfileError has its text.
 */
export function makePlugin(name: string, factory: PluginFactory, args: unknown, handle: PluginHandle): Plugin {
  const place = { schedulerName: handle.schedulerName, plugin: name };
  const reject = (problem: string, cause?: unknown): never => {
    throw new ProfileError([{ ...place, text: `plugin ${name} ${problem}`, cause }]);
  };
  let made: unknown;
  try {
    made = factory(args, { ...handle, logger: handle.logger.child({ plugin: name }) });
  } catch (error) {
    if (error instanceof UserError) throw new ProfileError([{ ...place, text: error.message, cause: error }]);
    return reject(`could not be created: ${describeThrown(error)}${framesOf(error)}`, error);
  }
  dropPromise(made);
  if (isPromise(made) || typeof made !== 'object' || made === null) {
    return reject(
      `could not be created: its factory must return an object with a name and extension points, not ${describe(made)}`,
    );
  }
  const problems = problemsOfMembers(made).map((problem) => ({ ...place, text: `plugin ${name} ${problem}` }));
  if (problems.length > 0) throw new ProfileError(problems);
  const plugin = made as Plugin;
  if (plugin.name !== name)
    reject(`has the name ${describe(plugin.name)}: its factory must return a plugin named ${name}`);
  return plugin;
}
