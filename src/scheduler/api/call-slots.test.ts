import { expect, it } from 'vitest';
import { deferred } from '../../base/deferred.ts';
import { CallSlots } from './call-slots.ts';

const { signal } = new AbortController();

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

it('limits concurrent calls and runs the others in order, also after a failed one', async () => {
  const slots = new CallSlots(2);
  const ends = [deferred(), deferred(), deferred(), deferred()];
  const begun: number[] = [];
  const runs = ends.map(({ promise }, i) =>
    slots.run(() => {
      begun.push(i);
      return promise;
    }, signal),
  );
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[1]!.reject(new Error('lost'));
  await expect(runs[1]).rejects.toThrow('lost');
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  for (const end of ends) end.resolve();
  await Promise.all([runs[0], runs[2], runs[3]]);
  expect(begun).toEqual([0, 1, 2, 3]);
});

it.each([false, true])('keeps its slots when a waiting call gives up (at its turn: %s)', async (atItsTurn) => {
  const slots = new CallSlots(1);
  const first = deferred();
  const running = slots.run(() => first.promise, signal);
  const end = new AbortController();
  const given = slots.run(() => Promise.resolve(), end.signal);
  if (atItsTurn) first.resolve();
  end.abort(new Error('no longer'));
  await expect(given).rejects.toThrow('no longer');
  first.resolve();
  await running;
  expect(await slots.run(() => Promise.resolve('ran'), signal)).toBe('ran');
});

it('enter() returns at once while slots are free, otherwise waits in order', async () => {
  const slots = new CallSlots(1);
  expect(slots.enter()).toBeUndefined();
  const begun: string[] = [];
  const second = slots.enter()!.promise.then(() => begun.push('second'));
  const third = slots.run(() => Promise.resolve(begun.push('third')), signal);
  await settle();
  expect(begun).toEqual([]);
  slots.leave();
  await second;
  await settle();
  expect(begun).toEqual(['second']);
  slots.leave();
  await third;
  expect(slots.enter()).toBeUndefined();
});

it('giveUp() passes the turn to the next call, and does nothing once the turn has come', async () => {
  const slots = new CallSlots(1);
  expect(slots.enter()).toBeUndefined();
  const [given, second] = [slots.enter()!, slots.enter()!];
  slots.giveUp(given, new Error('no longer'));
  await expect(given.promise).rejects.toThrow('no longer');
  slots.leave();
  await second.promise;
  slots.giveUp(second, new Error('too late'));
  const third = slots.enter()!;
  slots.leave();
  await third.promise;
  slots.leave();
  expect(slots.enter()).toBeUndefined();
});
