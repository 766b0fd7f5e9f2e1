import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../api/verdict.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { waitsForOf } from './waits-for.ts';

/** Returns the verdict that the scheduler reaches on the first member of red. */
async function verdictAfter(prepare: (core: Scheduling) => void): Promise<Verdict> {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 2 });
  prepare(core);
  while ((await core.attempt()) !== undefined);
  core.harness.clock.advance(10_000);
  const [pod] = [...core.harness.core.cluster.pods()].filter(({ name }) => name === 'red-0');
  return core.harness.core.verdictOf(pod!.uid)!;
}

describe('what a condition says that an entity waits for', () => {
  it.each<[string, (core: Scheduling) => void]>([
    [
      'members',
      (core) => {
        core.group({ name: 'red', minMember: 3 });
        core.members(1, { group: 'red' });
      },
    ],
    [
      'gates',
      (core) => {
        core.group({ name: 'red', minMember: 2 });
        core.pod({ name: 'red-0', group: 'red' });
        core.pod({ name: 'red-1', group: 'red', gates: ['example.com/wait'] });
      },
    ],
    [
      'capacity',
      (core) => {
        core.pod({ name: 'busy', cpu: 1, nodeName: 'a' });
        core.group({ name: 'red', minMember: 2 });
        core.members(2, { group: 'red', cpu: 1 });
      },
    ],
    [
      'never',
      (core) => {
        core.group({ name: 'red', minMember: 2 });
        core.members(2, { group: 'red', cpu: 2 });
      },
    ],
    [
      'nodes',
      (core) => {
        core.node({ name: 'b', cpu: 2, unschedulable: true });
        core.group({ name: 'red', minMember: 2 });
        core.members(2, { group: 'red', cpu: 2 });
      },
    ],
    [
      'error',
      (core) => {
        core.nativeGroup({ name: 'red', minCount: 1, topologyKey: 'zone' });
        core.pod({ name: 'red-0', schedulingGroup: 'red' });
      },
    ],
  ])('is what the scheduler says: %s', async (waitsFor, prepare) => {
    const verdict = await verdictAfter(prepare);
    expect(verdict.waitsFor).toBe(waitsFor);
    expect(waitsForOf('PodGroup', verdict.reason, verdict.message)).toBe(waitsFor);
  });

  it('is unknown for reasons and messages of others', () => {
    expect(waitsForOf('PodGroup', 'Unschedulable', 'no')).toBe('unknown');
    expect(waitsForOf('Pod', 'Unschedulable', '0/2 nodes are available: 2 Insufficient cpu.')).toBe('unknown');
    expect(waitsForOf('PodGroup', 'WaitingForScheduler', '')).toBe('unknown');
    expect(waitsForOf('PodGroup', 'WaitingForTurn', 'Capacity is reserved for group a.')).toBe('turn');
    expect(waitsForOf('Pod', 'SchedulingGated', 'waiting for gates')).toBe('gates');
  });
});
