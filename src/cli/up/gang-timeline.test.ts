import { expect, it } from 'vitest';
import { emptyTimeline, withMessage } from '../../api/timeline/client-timeline.ts';
import { delta, group, snapshot, transition } from '../../api/timeline/testing/builders.ts';
import type { Received } from '../../api/timeline/timeline-client.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { GangTimeline } from './gang-timeline.ts';

it("a group waits from its first transition until its quorum is bound, by the scheduler's clock", () => {
  const clock = new VirtualClock();
  const gangs = new GangTimeline(clock);
  expect(gangs.of('ml/red')).toBeUndefined();
  const received = (timeline: Received['timeline']): Received => {
    return { timeline, connection: { kind: 'live' }, receivedAt: clock.monotonic() };
  };
  const waits = group('red', { waitsFor: 'capacity' });
  const first = withMessage(
    emptyTimeline,
    snapshot([transition(90_000, 'NotReady', { sequence: 1 }), transition(95_000, 'Waiting', { sequence: 2 })], {
      entities: [waits],
    }),
  );
  gangs.take(received(first));
  clock.advance(1_500);
  expect(gangs.of('ml/red')).toEqual({ state: 'Waiting', wait: { ms: 11_500, cause: 'capacity', bound: 0 } });
  const started = delta(2, [transition(101_000, 'Running', { sequence: 3 })], {
    now: 101_000,
    entities: [group('red', { state: 'Running' })],
  });
  gangs.take(received(withMessage(first, started)));
  expect(gangs.of('ml/red')).toEqual({ state: 'Running', wait: undefined });
  expect(gangs.of('ml/blue')).toBeUndefined();
});
