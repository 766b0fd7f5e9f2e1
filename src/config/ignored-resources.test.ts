import { expect, it } from 'vitest';
import { ignoringManagedResources } from './ignored-resources.ts';
import type { ExtenderConfiguration } from './scheduler-configuration.ts';

function managing(...managedResources: ExtenderConfiguration['managedResources']): ExtenderConfiguration {
  return {
    urlPrefix: 'http://x',
    weight: 0,
    enableHttps: false,
    httpTimeoutMs: 5_000,
    nodeCacheCapable: true,
    managedResources,
    ignorable: false,
  };
}

const profile = {
  schedulerName: 'tutti',
  plugins: [{ name: 'NodeName' }, { name: 'NodeResourcesFit', args: { ignoredResources: ['a.b/c'], other: 1 } }],
};

it('adds the resources that extenders manage to those that NodeResourcesFit ignores', () => {
  const extenders = [
    managing({ name: 'd.e/f', ignoredByScheduler: true }, { name: 'g.h/i', ignoredByScheduler: false }),
    managing({ name: 'a.b/c', ignoredByScheduler: true }),
  ];
  expect(ignoringManagedResources(profile, extenders).plugins).toEqual([
    { name: 'NodeName' },
    { name: 'NodeResourcesFit', args: { ignoredResources: ['a.b/c', 'd.e/f'], other: 1 } },
  ]);
});

it('returns the same profile if there is nothing to ignore', () => {
  expect(ignoringManagedResources(profile, [managing({ name: 'g.h/i', ignoredByScheduler: false })])).toBe(profile);
});
