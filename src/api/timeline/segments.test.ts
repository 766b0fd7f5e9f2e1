import { describe, expect, it } from 'vitest';
import { segmentsOf } from './segments.ts';
import { group, transition } from './testing/builders.ts';
import type { TimelineEntity } from './timeline-entity.ts';
import type { Transition } from './transition.ts';

const lane = (entity: TimelineEntity, ...transitions: readonly Transition[]): Parameters<typeof segmentsOf>[0] => ({
  entity,
  transitions,
});

describe('the times in each state', () => {
  it('last from one state to the next, and the last one until now', () => {
    const red = lane(
      group('red', { state: 'Running' }),
      transition(10, 'NotReady'),
      transition(20, 'Waiting'),
      transition(25, 'Waiting'),
      transition(30, 'Running'),
    );
    expect(segmentsOf(red, 0, 50)).toEqual([
      { start: 10, end: 20, state: 'NotReady' },
      { start: 20, end: 30, state: 'Waiting' },
      { start: 30, end: 50, state: 'Running' },
    ]);
  });

  it('end when the group is gone, and begin again when it is created again', () => {
    const red = lane(
      group('red', { state: 'Waiting' }),
      transition(10, 'Running'),
      transition(20, 'Gone'),
      transition(30, 'Waiting'),
    );
    expect(segmentsOf(red, 0, 40)).toEqual([
      { start: 10, end: 20, state: 'Running' },
      { start: 30, end: 40, state: 'Waiting' },
    ]);
    expect(segmentsOf(lane(group('red', { state: 'Gone' }), transition(10, 'Gone')), 0, 40)).toEqual([]);
  });

  it('show a state that has not changed since the record begins, but not from before the group was created', () => {
    expect(segmentsOf(lane(group('red', { state: 'Running' })), 5, 9)).toEqual([
      { start: 5, end: 9, state: 'Running' },
    ]);
    const young = lane(group('red', { state: 'Running', createdAt: 7 }));
    expect(segmentsOf(young, 5, 9)).toEqual([{ start: 7, end: 9, state: 'Running' }]);
    expect(segmentsOf(lane(group('red', { state: 'Gone' })), 5, 9)).toEqual([]);
  });

  it('leave out states without a duration', () => {
    const red = lane(group('red', { state: 'Running' }), transition(10, 'Partial'), transition(10, 'Running'));
    expect(segmentsOf(red, 0, 20)).toEqual([{ start: 10, end: 20, state: 'Running' }]);
  });
});
