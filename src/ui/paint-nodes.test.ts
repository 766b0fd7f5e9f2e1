import { expect, it } from 'vitest';
import type { TimelineNode } from '../api/timeline/timeline-node.ts';
import { nodesOf } from './node-list.ts';
import { entityColor, partsOf } from './paint-nodes.ts';
import { inkOn, light } from './theme.ts';

it('draws used shares before reserved ones', () => {
  const shares = [
    { entity: 'a', used: 0.5, reserved: 0.1 },
    { used: 0.2, reserved: 0 },
  ];
  expect(partsOf({ shares }).map(({ entity, isReserved, to }) => [entity, isReserved, Number(to.toFixed(3))])).toEqual([
    ['a', false, 0.5],
    [undefined, false, 0.7],
    ['a', true, 0.8],
  ]);
});

it('fits the bar of an over-committed node', () => {
  const shares = [{ used: 1.5, reserved: 0.5 }];
  expect(partsOf({ shares }).map(({ to }) => to)).toEqual([0.75, 1]);
});

it('gives an entity the same color each time, on which its name can be read', () => {
  expect(entityColor(light, 'gang/ml/red')).toBe(entityColor(light, 'gang/ml/red'));
  expect(light.entities.map(inkOn)).toContain('#ffffff');
  expect(inkOn('#f0e442')).toBe('#000000');
});

it('sorts nodes by number, and finds them by name and state', () => {
  const node = (name: string, state: TimelineNode['state'] = 'Ready'): [string, TimelineNode] => [
    name,
    { name, state, resources: {}, shares: [] },
  ];
  const nodes = new Map([node('node-10'), node('node-9', 'Cordoned'), node('node-1')]);
  expect(nodesOf(nodes, '').map(({ name }) => name)).toEqual(['node-1', 'node-9', 'node-10']);
  expect(nodesOf(nodes, ' cordon').map(({ name }) => name)).toEqual(['node-9']);
});
