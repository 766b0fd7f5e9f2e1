import { describe, expect, it } from 'vitest';
import { defaultPlugins } from '../plugins/registry.ts';
import { Picture } from '../testkit/picture.ts';
import { Queueing } from '../testkit/queueing.ts';
import { preempting, roomFor } from './testing/preempting.ts';

describe('a stopped core', () => {
  it('no timer is left', async () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preempting(() => roomFor(core.picture, 'x', 'a'))],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1 });
    core.picture.core.attempt();
    await core.picture.core.stop();
    expect(core.picture.clock.untilNextTimer()).toBeUndefined();
  });

  it('begin starts nothing', async () => {
    const picture = new Picture({ plugins: defaultPlugins });
    await picture.core.stop();
    picture.core.begin();
    expect(picture.clock.untilNextTimer()).toBeUndefined();
  });

  it('an event leaves no timer', async () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.picture.core.attempt();
    await core.picture.core.stop();
    core.removePod('old');
    expect(core.picture.clock.untilNextTimer()).toBeUndefined();
  });
});
