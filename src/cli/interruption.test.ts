import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { Interruption } from './interruption.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

function interruptible(): { process: FakeProcess; clock: VirtualClock; interruption: Interruption } {
  const process = new FakeProcess();
  const clock = new VirtualClock();
  return { process, clock, interruption: new Interruption(process, clock) };
}

it('stops the command at the first signal, and exits if stopping takes too long', async () => {
  const { process, clock, interruption } = interruptible();
  expect(interruption.exitCode).toBeUndefined();
  process.emit('SIGINT');
  await interruption.requested();
  expect(interruption.signal.aborted).toBe(true);
  expect(interruption.exitCode).toBe(130);
  clock.advance(1_499);
  expect(process.exits).toEqual([]);
  clock.advance(1);
  expect(process.exits).toEqual([130]);
});

it('gives a command more time on request, and still exits at once at the second signal', () => {
  const { process, clock, interruption } = interruptible();
  interruption.allow(25_000);
  process.emit('SIGTERM');
  clock.advance(24_999);
  expect(process.exits).toEqual([]);
  process.emit('SIGTERM');
  expect(process.exits).toEqual([143]);
  clock.advance(1);
  expect(process.exits).toEqual([143, 143]);
});

it('exits at once at the second Ctrl-C, but counts two copies of one Ctrl-C as one', () => {
  const { process, clock } = interruptible();
  process.emit('SIGINT');
  clock.advance(20);
  process.emit('SIGINT');
  expect(process.exits).toEqual([]);
  clock.advance(400);
  process.emit('SIGINT');
  expect(process.exits).toEqual([130]);
});

it('exits with the exit code of SIGTERM', () => {
  const { process, clock, interruption } = interruptible();
  process.emit('SIGTERM');
  clock.advance(1_500);
  expect(interruption.exitCode).toBe(143);
  expect(process.exits).toEqual([143]);
});

it('does not count a broken pipe as a second signal', () => {
  const { process, clock, interruption } = interruptible();
  interruption.interrupt('SIGPIPE');
  clock.advance(400);
  interruption.interrupt('SIGPIPE');
  expect(process.exits).toEqual([]);
  expect(interruption.exitCode).toBe(141);
});

it('removes its signal handlers and its timer when it is disposed of', () => {
  const { process, clock, interruption } = interruptible();
  process.emit('SIGINT');
  interruption.dispose();
  clock.advance(60_000);
  expect(process.exits).toEqual([]);
  expect(process.eventNames()).toEqual([]);
});

it('exits with the given code when the output could not be written and stopping takes too long', () => {
  const { process, clock, interruption } = interruptible();
  interruption.interrupt('SIGPIPE', 1);
  clock.advance(1_500);
  expect(process.exits).toEqual([1]);
});

it.each(['SIGPIPE', 'SIGINT'] as const)(
  'exits with 0 when %s ends a command that runs until it is interrupted and stopping takes too long',
  (signal) => {
    const { process, clock, interruption } = interruptible();
    interruption.completesCommand();
    interruption.interrupt(signal);
    clock.advance(1_500);
    expect(process.exits).toEqual([0]);
  },
);

it('exits with the given code even for a command that runs until it is interrupted', () => {
  const { process, clock, interruption } = interruptible();
  interruption.completesCommand();
  interruption.interrupt('SIGPIPE', 1);
  clock.advance(1_500);
  expect(process.exits).toEqual([1]);
});
