import { afterEach, describe, expect, it } from 'vitest';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { TestScheduler } from './test-scheduler.ts';
import type { TestSchedulerOptions } from './test-scheduler.ts';

let scheduler: TestScheduler;
afterEach(() => scheduler.stop());

function start(options: TestSchedulerOptions = {}): void {
  scheduler = new TestScheduler(options);
}

/** Makes pods wait at Permit for a second, and rejects pods with the name no. */
const gate: OwnPlugin = {
  name: 'Gate',
  factory: (_args, { clock, logger, Status, waitingPods }) => ({
    name: 'Gate',
    preFilter: (_state, { name }) => (name === 'no' ? new Status('Unschedulable', 'not this one') : undefined),
    permit: (_state, { uid, name }) => {
      logger.info('waiting', { pod: name });
      clock.setTimer(1_000, () => waitingPods.get(uid)?.allow('Gate'));
      return { waitMs: 5_000 };
    },
  }),
};

describe('TestScheduler', () => {
  it("schedules with Tutti's plugins, and reports which plugin rejected a pod", async () => {
    start();
    scheduler.setNode({ name: 'a', cpu: 2 });
    scheduler.setPod({ name: 'small', cpu: 1 });
    scheduler.setPod({ name: 'large', cpu: 2 });
    await scheduler.expectBound('small', 'a');
    await scheduler.expectRejected('large', { by: 'NodeResourcesFit', says: /1 Insufficient cpu/ });
    scheduler.removePod('small');
    await scheduler.expectBound('large', 'a');
  });

  it('keeps pods at Permit until the clock advances, and records the log', async () => {
    start({ plugins: [gate] });
    scheduler.setNode({ name: 'a' });
    scheduler.setPod({ name: 'yes' });
    scheduler.setPod({ name: 'no' });
    await scheduler.expectWaiting('yes', { by: 'Gate', on: 'a' });
    await scheduler.expectRejected('no', { by: 'Gate', says: 'not this one' });
    await scheduler.advance(999);
    await scheduler.expectWaiting('yes');
    await scheduler.advance(1);
    await scheduler.expectBound('yes', 'a');
    expect(scheduler.logs).toContainEqual({
      level: 'info',
      message: 'waiting',
      fields: { plugin: 'Gate', pod: 'yes' },
    });
    expect(scheduler.now).toBe(Date.UTC(2026, 0, 1, 0, 0, 1));
  });

  it('starts a gang as a whole or not at all', async () => {
    start();
    scheduler.setNode({ name: 'a', cpu: 2 });
    scheduler.setGroup({ name: 'gang', minMember: 3 });
    scheduler.setPods(2, { name: 'w', group: 'gang', cpu: 1 });
    await scheduler.expectRejected('w-0', { by: 'Coscheduling' });
    scheduler.setPod({ name: 'w-2', group: 'gang', cpu: 1 });
    await scheduler.expectRejected('w-0', { by: 'NodeResourcesFit', says: '2 of 3 members would fit; w-2 would not' });
    scheduler.setNode({ name: 'b', cpu: 1 });
    for (const name of ['w-0', 'w-1', 'w-2']) await scheduler.expectBound(name);
  });

  it('retries a failed pod when its backoff ends', async () => {
    let fails = true;
    start({
      plugins: [
        {
          name: 'Flaky',
          factory: () => ({
            name: 'Flaky',
            preFilter: () => {
              if (fails) throw new Error('no answer');
              return undefined;
            },
          }),
        },
      ],
    });
    scheduler.setNode({ name: 'a' });
    scheduler.setPod({ name: 'pod' });
    await scheduler.expectRejected('pod', { by: 'Flaky', says: 'Flaky failed in PreFilter: no answer' });
    fails = false;
    await scheduler.advance(999);
    await scheduler.expectRejected('pod');
    await scheduler.advance(1);
    await scheduler.expectBound('pod');
  });

  it('waits for asynchronous plugins that use no timer, and reports plugins that hang', async () => {
    const hangs = (name: string): Promise<undefined> =>
      name === 'stuck' ? new Promise(() => undefined) : new Promise((resolve) => setImmediate(resolve, undefined));
    start({
      plugins: [{ name: 'Slow', factory: () => ({ name: 'Slow', preBind: (_state, { name }) => hangs(name) }) }],
    });
    scheduler.setNode({ name: 'a' });
    for (const name of ['pod', 'stuck']) scheduler.setPod({ name });
    await scheduler.run();
    await scheduler.expectBound('pod');
    expect(scheduler.stateOf('stuck')).toEqual({ kind: 'binding', nodeName: 'a' });
    await scheduler.advance(600_000);
    await scheduler.expectRejected('stuck', { by: 'Slow', says: 'timed out after 10m' });
  });

  it('supports several profiles and namespaces', async () => {
    start({
      plugins: [gate],
      profiles: [{ schedulerName: 'plain' }, { schedulerName: 'gated', enabled: ['Gate'] }],
    });
    scheduler.setNode({ name: 'a' });
    scheduler.setPod({ name: 'pod', namespace: 'one', schedulerName: 'plain' });
    scheduler.setPod({ name: 'pod', namespace: 'two', schedulerName: 'gated' });
    scheduler.setPod({ name: 'pod', schedulerName: 'foreign' });
    await scheduler.expectBound('one/pod');
    await scheduler.expectWaiting('two/pod');
    expect(scheduler.stateOf('pod')).toEqual({ kind: 'unknown' });
  });

  it('is deterministic for a given seed', async () => {
    const run = async (seed: number): Promise<readonly unknown[]> => {
      start({ seed });
      for (let index = 0; index < 10; index++) scheduler.setNode({ name: `n${index}` });
      scheduler.setPods(5, { name: 'pod' });
      await scheduler.run();
      return [0, 1, 2, 3, 4].map((index) => scheduler.stateOf(`pod-${index}`));
    };
    expect(await run(7)).toEqual(await run(7));
    expect(await run(8)).not.toEqual(await run(7));
  });

  it.each<[string, () => Promise<void>, string]>([
    [
      'bound',
      () => scheduler.expectBound('no'),
      'expected pod no to be bound, but it is rejected by Gate, DefaultPreemption: 0/1 nodes are available: not this one. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    ],
    [
      'bound elsewhere',
      () => scheduler.expectBound('held', 'b'),
      'expected pod held to be bound to b, but it waits for Gate at Permit on node a',
    ],
    [
      'rejected',
      () => scheduler.expectRejected('held', { by: 'Gate', says: 'x' }),
      'expected pod held to be rejected by Gate: x, but it waits for Gate at Permit on node a',
    ],
    [
      'waiting',
      () => scheduler.expectWaiting('none'),
      'expected pod none to wait at Permit, but it does not exist, or has another schedulerName',
    ],
  ])('reports the actual state of a pod that is not %s', async (_what, expectation, message) => {
    start({ plugins: [gate] });
    scheduler.setNode({ name: 'a' });
    for (const name of ['held', 'no']) scheduler.setPod({ name });
    await expect(expectation()).rejects.toMatchObject({ name: 'ExpectationError', message });
  });
});
