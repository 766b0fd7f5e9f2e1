import { expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import { EventLog } from './event-log.ts';

const build = new Builders();

function event(name: string): ClusterEvent {
  return { resource: 'UnscheduledPod', action: 'Add', pod: build.projectedPod({ name }) };
}

it('returns each reader’s earlier events and those between open and close', () => {
  const log = new EventLog<string>();
  const [before, first, second, third] = [event('0'), event('1'), event('2'), event('3')];
  log.add(before);
  log.open('a', [before]);
  log.add(first);
  log.open('b', []);
  log.add(second);
  expect(log.close('a')).toEqual([before, first, second]);
  log.add(third);
  expect([log.close('b'), log.close('b'), log.events.length]).toEqual([[second, third], [], 0]);
});

it('drops the events that no reader needs', () => {
  const log = new EventLog<number>();
  const each = event('x');
  log.open(0, []);
  for (let reader = 1; reader <= 50; reader++) {
    for (let i = 0; i < 100; i++) log.add(each);
    log.open(reader, []);
    expect(log.close(reader - 1)).toHaveLength(100);
    expect(log.events.length).toBeLessThanOrEqual(1024 + 100);
  }
});
