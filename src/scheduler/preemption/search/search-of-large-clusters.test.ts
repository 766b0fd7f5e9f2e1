import { expect, it } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import { Queueing } from '../../../testkit/queueing.ts';
import { withPreemption } from '../../testing/preemption-plugins.ts';

const high = 1000;

/** A cluster of nodes with 4 CPUs, where a search makes `maxPlans` plans at most. */
function cluster(names: readonly string[], maxPlans: number): Queueing {
  const core = new Queueing({ plugins: withPreemption({ maxPlans }) });
  for (const name of names) core.node({ name, cpu: 4 });
  return core;
}

function nodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `node-${index}`);
}

/** Adds a gang of high priority, makes an attempt, and returns the victims and what is reserved. */
function preempt(core: Queueing, size: number, cpu = 1): { readonly victims: string[]; readonly reserved: string[] } {
  core.group({ name: 'x', minMember: size });
  core.members(size, { group: 'x', cpu, priority: high });
  core.harness.core.attempt();
  return {
    victims: core.harness.preempted.map((text) => text.split(' ')[0]!).sort(),
    reserved: [...core.harness.cluster.reservations()].map(({ owner, nodeName }) => `${owner.name} ${nodeName}`).sort(),
  };
}

it('PE40 - a search that cannot help ends without a plan, and one among 20 priorities after 8 plans at most', () => {
  const hopeless = cluster(nodeNames(200), 1);
  for (const [index, nodeName] of nodeNames(200).entries()) {
    for (let i = 0; i < 4; i++)
      hopeless.pod({ name: `p-${index}-${i}`, cpu: 1, priority: i === 0 ? 0 : high, nodeName });
  }
  expect(preempt(hopeless, 50, 2)).toEqual({ victims: [], reserved: [] });
  expect(hopeless.harness.core.verdictOf('x-0')!.message).toContain(
    'preemption: not helpful: 0 of 50 members fit even with 200 pods of lower priority gone.',
  );

  const feasible = cluster(nodeNames(200), 8);
  for (const [index, nodeName] of nodeNames(200).entries()) {
    for (let i = 0; i < 4; i++) {
      feasible.pod({ name: `p-${index}-${i}`, cpu: 1, priority: (index + 5 * i) % 20, nodeName });
    }
  }
  const { victims } = preempt(feasible, 50);
  expect(victims).toHaveLength(50);
  const priorities = victims.map((name) => feasible.harness.cluster.pod(name)!.priority);
  expect(Math.max(...priorities)).toBe(1);
});

it('PE41 - a gang preempts the same pods for the same nodes, whatever the order of nodes and pods', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const names = nodeNames(6);
    const draw = seededRandom(seed);
    const running = names.flatMap((nodeName) =>
      Array.from({ length: 4 }, (_, i) => ({
        name: `${nodeName}-p${i}`,
        cpu: 1,
        priority: Math.floor(draw() * 5),
        nodeName,
        ...(draw() < 0.5 && { group: `low-${Math.floor(draw() * 3)}` }),
      })),
    );
    const groups = [2, 3, 4].map((minMember, index) => ({ name: `low-${index}`, minMember }));
    const results = [0, 1, 2].map((order) => {
      const random = seededRandom(100 * seed + order);
      const core = cluster(shuffled(names, random), 40);
      for (const group of groups) core.group(group);
      for (const pod of shuffled(running, random)) core.pod(pod);
      return preempt(core, 7);
    });
    expect(results[0]!.victims.length).toBeGreaterThanOrEqual(7);
    expect(results.slice(1)).toEqual([results[0], results[0]]);
  }
});

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
