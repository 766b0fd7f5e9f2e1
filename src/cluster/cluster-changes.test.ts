import { expect, it } from 'vitest';
import { defaultPlugins } from '../plugins/registry.ts';
import { Scheduling } from '../testkit/scheduling.ts';

/** Returns whether the action counts as a change that may decide where other entities fit. */
function isCounted(c: Scheduling, act: () => void): boolean {
  const before = c.harness.cluster.changes;
  act();
  return c.harness.cluster.changes !== before;
}

it('counts changes of nodes, of pods on them and of groups with such pods, but not those of pods that wait', async () => {
  const c = new Scheduling({ plugins: defaultPlugins });
  expect(isCounted(c, () => c.node({ name: 'a', cpu: 2 }))).toBe(true);
  expect(isCounted(c, () => c.node({ name: 'a', cpu: 2, resourceVersion: '9' }))).toBe(false);
  expect(isCounted(c, () => c.node({ name: 'a', cpu: 2, unschedulable: true }))).toBe(true);
  expect(isCounted(c, () => c.node({ name: 'a', cpu: 2 }))).toBe(true);
  expect(isCounted(c, () => c.pod({ name: 'waits', cpu: 9 }))).toBe(false);
  expect(isCounted(c, () => c.group({ name: 'red', minMember: 9 }))).toBe(false);
  expect(isCounted(c, () => c.pod({ name: 'runs', nodeName: 'a', cpu: 1, group: 'red' }))).toBe(true);
  expect(isCounted(c, () => c.change('runs', { phase: 'Running', resourceVersion: '9' }))).toBe(false);
  expect(isCounted(c, () => c.group({ name: 'red', minMember: 9, resourceVersion: '9' }))).toBe(false);
  expect(isCounted(c, () => c.group({ name: 'red', minMember: 8 }))).toBe(true);
  // A rejected attempt reverts its changes.
  const { changes } = c.harness.cluster;
  expect(await c.attempt()).toBe('rejected');
  expect(c.harness.cluster.changes).toBe(changes);
  c.pod({ name: 'fits', cpu: 1 });
  expect(await c.attempt()).toBe('planned');
  expect(c.harness.cluster.changes).toBeGreaterThan(changes);
  expect(isCounted(c, () => c.removePod('runs'))).toBe(true);
  expect(isCounted(c, () => c.removePod('waits'))).toBe(false);
});
