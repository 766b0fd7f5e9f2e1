import { describe, expect, it } from 'vitest';
import { lanesOf, matches } from './lane.ts';
import { group, transition } from '../api/timeline/testing/builders.ts';
import { lane } from './testing/builders.ts';

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
