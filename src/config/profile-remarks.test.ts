import { expect, it } from 'vitest';
import { ProfileError } from '../framework/profile-error.ts';
import type { ProfileProblem } from '../framework/profile-error.ts';
import { PluginArgumentsError } from '../plugins/plugin-arguments-error.ts';
import { parseConfiguration } from './parse-configuration.ts';
import { header } from './testing/remarks-of.ts';

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

/** What is said of the file when its profiles cannot be made. */
function saidOf(...problems: readonly ProfileProblem[]): readonly string[] {
  const { errorOf } = parseConfiguration('f.yaml', text, [{ name: 'Zone' }]);
  return errorOf(new ProfileError(problems)).message.split('\n  ').slice(1);
}

it('arguments that a factory rejects are found field by field', () => {
  const cause = new PluginArgumentsError('Zone', [
    { path: ['labels', 0], problem: 'must be a label' },
    { path: ['size'], problem: 'is missing' },
  ]);
  expect(saidOf({ schedulerName: 'two', plugin: 'Zone', text: cause.message, cause })).toEqual([
    'f.yaml:11:5: profiles[1].pluginConfig[0].args.size is missing',
    'f.yaml:11:21: profiles[1].pluginConfig[0].args.labels[0] must be a label',
  ]);
  // It gives none, so what is wrong is that it enables the plugin.
  expect(saidOf({ schedulerName: 'one', plugin: 'Zone', text: 'no', cause })).toEqual([
    'f.yaml:4:3: profiles[0] cannot be used: no',
  ]);
});

it('a plugin is found where the point names it, or else where it is enabled, and problems are in the order of the file', () => {
  expect(
    saidOf(
      { schedulerName: 'two', plugin: 'Zone', point: 'score', text: 'not here' },
      { schedulerName: 'two', plugin: 'Zone', text: 'no disk' },
      { schedulerName: 'two', point: 'queueSort', text: 'nobody sorts' },
    ),
  ).toEqual([
    'f.yaml:6:3: profiles[1].plugins.queueSort cannot be used: nobody sorts',
    'f.yaml:7:29: profiles[1].plugins.multiPoint.enabled[0].name cannot be used: no disk',
    'f.yaml:8:24: profiles[1].plugins.score.enabled[0].name cannot be used: not here',
  ]);
});
