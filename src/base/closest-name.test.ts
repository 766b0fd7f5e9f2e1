import { expect, it } from 'vitest';
import { closestName } from './closest-name.ts';

const names = ['type', 'resources', 'ignoredResources', 'ignoredResourceGroups', 'permitWaitingTimeSeconds', 'weight'];

it.each([
  ['ignoredResource', 'ignoredResources'],
  ['ignoredresourcegroups', 'ignoredResourceGroups'],
  ['permitWaitTimeSeconds', 'permitWaitingTimeSeconds'],
  ['wieght', 'weight'],
  ['typ', 'type'],
])('corrects %s to %s', (given, meant) => {
  expect(closestName(given, names)).toBe(meant);
});

it.each([['weather'], ['shape'], ['ty'], [''], ['__proto__'], ['x'.repeat(1_000_000)]])(
  'suggests nothing for %s',
  (given) => {
    expect(closestName(given, names)).toBeUndefined();
  },
);
