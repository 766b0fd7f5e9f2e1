import { isPromise } from 'node:util/types';
import { UserError } from '../base/user-error.ts';
import { describe, describeThrown, dropPromise } from './plugin-answers.ts';
import { framesOf } from './plugin-failure.ts';
import type { Plugin, PluginFactory } from './plugin.ts';
import type { PluginHandle } from './plugin-handle.ts';
import { problemsOfMembers } from './plugin-members.ts';
import { ProfileError } from './profile-error.ts';

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
    const frames = framesOf(error).map((frame) => `\n    ${frame}`);
    return reject(`could not be created: ${describeThrown(error)}${frames.join('')}`, error);
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
