import { expect, it } from 'vitest';
import type { TimelineEntity } from '../api/timeline/timeline-entity.ts';
import type { Transition } from '../api/timeline/transition.ts';
import { Announcer } from './announcer.ts';
import { group, transition } from '../api/timeline/testing/builders.ts';
import type { Connection } from '../api/timeline/timeline-client.ts';

const counts = { members: 4, planned: 2, bound: 2, minMember: 4, started: false };
const live: Connection = { kind: 'live' };

function timeline(
  entity: TimelineEntity,
  ...transitions: readonly Transition[]
): { readonly entities: ReadonlyMap<string, TimelineEntity>; readonly transitions: readonly Transition[] } {
  return { entities: new Map([[entity.key, entity]]), transitions };
}

it('announces a group that stays partially bound once, and again when it becomes so again', () => {
  const announcer = new Announcer();
  const partial = group('red', { state: 'Partial', counts });
  const [planned, bound] = [transition(0, 'Starting'), transition(1_000, 'Partial', { kind: 'Bound' })];
  expect(announcer.news(timeline(partial, planned, bound), live, 1_500)).toEqual([]);
  // Another pod is bound: it has been partially bound since the first.
  const more = transition(2_900, 'Partial', { kind: 'Bound' });
  expect(announcer.news(timeline(partial, planned, bound, more), live, 3_000)).toEqual([
    'ml/red is partially bound: 2/4.',
  ]);
  expect(announcer.news(timeline(partial, planned, bound, more), live, 9_000)).toEqual([]);
  const running = transition(9_500, 'Running');
  expect(announcer.news(timeline(group('red', { state: 'Running' }), planned, bound, running), live, 9_500)).toEqual(
    [],
  );
  const again = transition(10_000, 'Partial');
  expect(announcer.news(timeline(partial, planned, bound, running, again), live, 13_000)).toHaveLength(1);
});

it('announces a group that was partially bound before the record begins', () => {
  expect(new Announcer().news(timeline(group('red', { state: 'Partial', counts })), live, 0)).toHaveLength(1);
});

it('announces a lost connection once, and that it is back', () => {
  const announcer = new Announcer();
  const nothing = { entities: new Map(), transitions: [] };
  const news = (connection: Connection): readonly string[] => announcer.news(nothing, connection, 0);
  expect(news({ kind: 'connecting' })).toEqual([]);
  expect(news(live)).toEqual([]);
  expect(news({ kind: 'lost', why: 'a' })).toEqual(['The connection to the scheduler is lost.']);
  expect(news({ kind: 'lost', why: 'b' })).toEqual([]);
  expect(news({ kind: 'connecting' })).toEqual([]);
  expect(news(live)).toEqual(['Connected again.']);
});
