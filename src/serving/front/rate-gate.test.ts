import { beforeEach, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { RateGate } from './rate-gate.ts';

let clock: VirtualClock;
let gate: RateGate;
let started: string[];

beforeEach(() => {
  clock = new VirtualClock();
  gate = new RateGate({ perSecond: 100, atOnce: 2, clock });
  started = [];
});

function run(address: string, name: string, isWanted = (): boolean => true): void {
  gate.run({ address, isWanted, start: () => void started.push(name) });
}

it('starts a burst at once, and further requests at the rate', () => {
  for (const name of ['1', '2', '3', '4']) run('a', name);
  expect(started).toEqual(['1', '2']);
  clock.advance(10);
  expect(started).toEqual(['1', '2', '3']);
  clock.advance(10);
  expect(started).toEqual(['1', '2', '3', '4']);
});

it('serves addresses in turn, so that a single request does not wait behind the queue of another address', () => {
  for (let index = 0; index < 50; index++) run('a', `a${index}`);
  run('b', 'b0');
  run('c', 'c0');
  clock.advance(30);
  expect(started).toEqual(['a0', 'a1', 'a2', 'b0', 'c0']);
});

it('drops a request whose client no longer waits, without using the rate', () => {
  let isOpen = true;
  run('a', '1');
  run('a', '2');
  for (let index = 0; index < 100; index++) run('a', 'gone', () => isOpen);
  run('a', 'last');
  isOpen = false;
  clock.advance(10);
  expect(started).toEqual(['1', '2', 'last']);
  expect(clock.untilNextTimer()).toBeUndefined();
});
