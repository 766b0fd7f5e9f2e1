import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { maxPermitWaitMs, WaitingPods } from './waiting-pods.ts';
import type { WaitingPod } from './waiting-pods.ts';

function waitingFor(waits: Record<string, number>): { clock: VirtualClock; pods: WaitingPods; waiting: WaitingPod } {
  const clock = new VirtualClock();
  const pods = new WaitingPods(clock);
  const waiting = pods.add(new Builders().projectedPod({ uid: 'x' }), 'a', new Map(Object.entries(waits)));
  pods.startTimeout(waiting);
  return { clock, pods, waiting };
}

describe('a pod that waits on Permit', () => {
  it('continues when every plugin it waits for has allowed it', async () => {
    const { clock, pods, waiting } = waitingFor({ One: 1000, Two: 2000 });
    expect([pods.get('x'), pods.size, waiting.nodeName]).toEqual([waiting, 1, 'a']);
    waiting.allow('One');
    waiting.allow('One');
    waiting.allow('Other');
    expect([waiting.pendingPlugins, waiting.settled]).toEqual([['Two'], undefined]);
    waiting.allow('Two');
    expect(await waiting.outcome).toBeUndefined();
    expect(pods.size).toBe(0);
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('is rejected by the first plugin that rejects; later calls change nothing', async () => {
    const { clock, pods, waiting } = waitingFor({ One: 1000, Two: 2000 });
    waiting.reject('Two', 'no');
    waiting.reject('One', 'not either');
    waiting.allow('One');
    waiting.allow('Two');
    expect(await waiting.outcome).toMatchObject({ code: 'Unschedulable', plugin: 'Two', message: 'no' });
    expect(pods.get('x')).toBeUndefined();
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('is rejected when the shortest wait times out, in the name of that plugin', async () => {
    const { clock, waiting } = waitingFor({ One: 30_000, Two: 2000 });
    clock.advance(1999);
    expect(waiting.settled).toBeUndefined();
    clock.advance(1);
    expect(await waiting.outcome).toMatchObject({
      plugin: 'Two',
      message: 'timed out after 2 s of waiting on Permit',
    });
  });

  it('never waits longer than fifteen minutes', () => {
    const { clock, waiting } = waitingFor({ One: 10 * maxPermitWaitMs });
    clock.advance(maxPermitWaitMs - 1);
    expect(waiting.settled).toBeUndefined();
    clock.advance(1);
    expect(waiting.settled?.status?.message).toBe('timed out after 900 s of waiting on Permit');
  });

  it('times out only after its timeout has started, counted from when it was added', () => {
    const clock = new VirtualClock();
    const pods = new WaitingPods(clock);
    const waiting = pods.add(new Builders().projectedPod(), 'a', new Map([['One', 1000]]));
    clock.advance(400);
    expect(clock.untilNextTimer()).toBeUndefined();
    pods.startTimeout(waiting);
    expect(clock.untilNextTimer()).toBe(600);
  });

  it('can be allowed during an iteration over all waiting pods', () => {
    const { pods } = waitingFor({ One: 1000 });
    pods.add(new Builders().projectedPod({ uid: 'y' }), 'a', new Map([['One', 1000]]));
    for (const waiting of pods.all()) waiting.allow('One');
    expect(pods.size).toBe(0);
  });
});

describe('pods that wait on Permit', () => {
  it('share one timer, and each is rejected when its own wait times out', async () => {
    const clock = new VirtualClock();
    const pods = new WaitingPods(clock);
    const build = new Builders();
    const add = (ms: number): WaitingPod => {
      const waiting = pods.add(build.projectedPod(), 'a', new Map([['One', ms]]));
      pods.startTimeout(waiting);
      return waiting;
    };
    const [late, early] = [add(3000), add(1000)];
    clock.advance(500);
    const [later, allowed] = [add(4000), add(100)];
    expect(clock.untilNextTimer()).toBe(100);
    allowed.allow('One');
    clock.advance(500);
    expect((await early.outcome)?.message).toBe('timed out after 1 s of waiting on Permit');
    expect([late.settled, later.settled]).toEqual([undefined, undefined]);
    expect(clock.untilNextTimer()).toBe(2000);
    clock.advance(2000);
    expect((await late.outcome)?.message).toBe('timed out after 3 s of waiting on Permit');
    later.reject('One', 'no');
    expect(clock.untilNextTimer()).toBeUndefined();
    expect((await later.outcome)?.message).toBe('no');
    expect(pods.size).toBe(0);
  });
});
