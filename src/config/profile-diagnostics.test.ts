import { expect, it } from 'vitest';
import { ProfileError } from '../framework/profile-error.ts';
import type { ProfileProblem } from '../framework/profile-error.ts';
import { PluginArgumentsError } from '../plugins/plugin-arguments-error.ts';
import { parseConfiguration } from './parse-configuration.ts';
import { header } from './testing/diagnostics-of.ts';

const text = `${header}profiles:
- schedulerName: one
- schedulerName: two
  plugins:
    multiPoint: {enabled: [{name: Zone}]}
    score: {enabled: [{name: Zone, weight: 2}]}
  pluginConfig:
  - name: Zone
    args: {labels: [rack]}
`;

/** Returns the messages about the file when its profiles cannot be created. */
function messagesOf(...problems: readonly ProfileProblem[]): readonly string[] {
  const { errorOf } = parseConfiguration('f.yaml', text, [{ name: 'Zone' }]);
  return errorOf(new ProfileError(problems)).message.split('\n  ').slice(1);
}

it('locates the arguments that a factory rejects, field by field', () => {
  const cause = new PluginArgumentsError('Zone', [
    { path: ['labels', 0], problem: 'must be a label' },
    { path: ['size'], problem: 'is missing' },
  ]);
  expect(messagesOf({ schedulerName: 'two', plugin: 'Zone', text: cause.message, cause })).toEqual([
    'f.yaml:11:5: profiles[1].pluginConfig[0].args.size is missing',
    'f.yaml:11:21: profiles[1].pluginConfig[0].args.labels[0] must be a label',
  ]);
  // This profile has no arguments, so the error is about enabling the plugin.
  expect(messagesOf({ schedulerName: 'one', plugin: 'Zone', text: 'no', cause })).toEqual([
    'f.yaml:4:3: profiles[0] cannot be used: no',
  ]);
});

it('locates a plugin at the given point, otherwise wherever it is enabled, and sorts problems in file order', () => {
  expect(
    messagesOf(
      { schedulerName: 'two', plugin: 'Zone', point: 'score', text: 'not here' },
      { schedulerName: 'two', plugin: 'Zone', text: 'no disk' },
      { schedulerName: 'two', point: 'queueSort', text: 'no plugin sorts' },
    ),
  ).toEqual([
    'f.yaml:6:3: profiles[1].plugins.queueSort cannot be used: no plugin sorts',
    'f.yaml:7:29: profiles[1].plugins.multiPoint.enabled[0].name cannot be used: no disk',
    'f.yaml:8:24: profiles[1].plugins.score.enabled[0].name cannot be used: not here',
  ]);
});
