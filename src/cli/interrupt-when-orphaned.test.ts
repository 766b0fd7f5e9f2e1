import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { interruptWhenOrphaned } from './interrupt-when-orphaned.ts';

it('interrupts the process once when its parent has ended', () => {
  const clock = new VirtualClock();
  const process = { ppid: 42 };
  const signals: string[] = [];
  interruptWhenOrphaned(process, { interrupt: (name) => void signals.push(name) }, clock);
  clock.advance(5_000);
  expect(signals).toEqual([]);
  process.ppid = 1;
  clock.advance(5_000);
  expect(signals).toEqual(['SIGTERM']);
  const end = interruptWhenOrphaned(process, { interrupt: (name) => void signals.push(name) }, clock);
  end();
  process.ppid = 42;
  clock.advance(5_000);
  expect(signals).toEqual(['SIGTERM']);
});
