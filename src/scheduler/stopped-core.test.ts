import { describe, expect, it } from 'vitest';
import { defaultPlugins } from '../plugins/registry.ts';
import { CoreHarness } from '../testkit/core-harness.ts';
import { Queueing } from '../testkit/queueing.ts';
import { preempting, capacityFor } from './testing/preempting.ts';

describe('a stopped core', () => {
  it('leaves no timer behind', async () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preempting(() => capacityFor(core.harness, 'x', 'a'))],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1 });
    core.harness.core.attempt();
    await core.harness.core.stop();
    expect(core.harness.clock.untilNextTimer()).toBeUndefined();
  });

  it('ignores begin()', async () => {
    const harness = new CoreHarness({ plugins: defaultPlugins });
    await harness.core.stop();
    harness.core.begin();
    expect(harness.clock.untilNextTimer()).toBeUndefined();
  });

  it('sets no timer for an event', async () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.harness.core.attempt();
    await core.harness.core.stop();
    core.removePod('old');
    expect(core.harness.clock.untilNextTimer()).toBeUndefined();
  });
});
