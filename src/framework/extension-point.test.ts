import { expect, it } from 'vitest';
import { extensionPoints, implementsPoint } from './extension-point.ts';
import type { Plugin } from './plugin.ts';

const pointsOf = (plugin: Plugin): readonly string[] =>
  extensionPoints.filter((point) => implementsPoint(plugin, point));

it('finds the points whose methods a plugin has', () => {
  const nothing = (): undefined => undefined;
  expect(pointsOf({ name: 'None', sign: nothing })).toEqual([]);
  expect(pointsOf({ name: 'Some', filter: nothing, compare: () => 0 })).toEqual(['queueSort', 'filter']);
  expect(pointsOf({ name: 'Undo', unreserve: nothing })).toEqual(['reserve']);
});
