import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { defaultPlugins, pluginRegistry } from '../plugins/registry.ts';
import { SchedulerCore } from './scheduler-core.ts';
import { Queueing } from '../testkit/queueing.ts';

describe('profiles with and without Coscheduling', () => {
  const profiles = { one: () => true, two: ({ name }: { name: string }) => name !== 'Coscheduling' };

  it('give a pod whose profile ignores groups its own verdict', async () => {
    const core = new Queueing({ plugins: defaultPlugins, profiles });
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, schedulerName: 'one' });
    core.pod({ name: 'red-1', group: 'red', cpu: 2, schedulerName: 'two' });
    expect(core.harness.core.attempt()!.kind).toBe('rejected');
    for (let i = 0; i < 20; i++) await Promise.resolve();
    core.harness.clock.advance(10_000);
    for (let i = 0; i < 20; i++) await Promise.resolve();
    expect(core.harness.written.filter(({ name }) => name === 'red-1').map(({ verdict }) => verdict.reason)).toEqual([
      'Unschedulable',
    ]);
  });
});

describe('pending pods', () => {
  it('are counted once if one profile schedules gangs and another one does not', async () => {
    const registry = createMetricRegistry({ processMetrics: false });
    const nothing = (): Promise<never> => Promise.reject(new Error('not expected'));
    const plugins = defaultPlugins.map(({ name }) => ({ name }));
    const core = new SchedulerCore({
      profiles: [
        { schedulerName: 'one', plugins },
        { schedulerName: 'two', plugins: plugins.filter(({ name }) => name !== 'Coscheduling') },
      ],
      plugins: pluginRegistry,
      ports: {
        binder: { bind: nothing },
        verdicts: { write: nothing },
        events: { record: () => undefined },
        evictor: { mark: nothing, unmark: nothing, evict: nothing, release: () => Promise.resolve('going') },
        volumes: { bind: nothing, provision: nothing },
      },
      clock: new VirtualClock(),
      random: () => 0,
      logger: silentLogger,
      registry,
      identity: 'test',
      defer: (callback) => void setImmediate(callback),
      onReady: () => undefined,
    });
    const build = new Builders({ resources: core.cluster.resources });
    core.begin();
    core.handlers.pods.onAdd(build.projectedPod({ name: 'red-0', group: 'red', schedulerName: 'one' }));
    core.handlers.pods.onAdd(build.projectedPod({ name: 'red-1', group: 'red', schedulerName: 'two' }));
    const lines = (await registry.metrics()).split('\n').filter((line) => /^\w*pending_pods\{/.test(line));
    const sum = lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    expect(lines.length).toBeGreaterThan(0);
    expect(sum).toBe(2);
    await core.stop();
  });
});
