import { describe, expect, it } from 'vitest';
import { lanesOf, matches, segmentsOf } from './lane.ts';
import { group, lane, transition } from './testing/builders.ts';

describe('The lanes', () => {
  it('have partially bound groups first, then those that wait, and those that are gone last', () => {
    const entities = [
      group('a', { state: 'Gone' }),
      group('b', { state: 'Running' }),
      group('d', { state: 'Waiting' }),
      group('c', { state: 'Waiting' }),
      group('e', { state: 'Partial' }),
      group('f', { state: 'Finished' }),
    ];
    const lanes = lanesOf({ entities: new Map(entities.map((each) => [each.key, each])), transitions: [] });
    expect(lanes.map(({ name }) => name)).toEqual(['ml/e', 'ml/c', 'ml/d', 'ml/b', 'ml/f', 'ml/a']);
  });

  it('have the transitions of their own entity', () => {
    const [red, blue] = [group('red'), group('blue')];
    const transitions = [
      transition(1, 'Waiting'),
      transition(2, 'Waiting', { entity: blue.key }),
      transition(3, 'Running'),
    ];
    const [ofBlue, ofRed] = lanesOf({ entities: new Map([red, blue].map((each) => [each.key, each])), transitions });
    expect(ofBlue!.transitions.map(({ time }) => time)).toEqual([2]);
    expect(ofRed!.transitions.map(({ time }) => time)).toEqual([1, 3]);
  });

  it.each(['red', 'ML/R', ' wait ', ''])('are found by a part of the name or the state: "%s"', (text) => {
    expect(matches(lane(group('red')), text)).toBe(true);
    expect(matches(lane(group('blue', { state: 'Running' })), 'red')).toBe(false);
  });
});

describe('The segments of a lane', () => {
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
