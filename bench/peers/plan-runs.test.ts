import { expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { planRuns } from './plan-runs.ts';
import { gangOfEachPod, minimumVictims, podCount, victimCount, workloadsOf } from './workload.ts';

const workloads = workloadsOf({ quick: false, long: false, preemption: false, native: false, nodes: [1000, 5000] });
const preempting = workloadsOf({ quick: false, long: false, preemption: true, native: false, nodes: [] });
const contenders = ['a', 'b', 'c'];

it('runs each contender on each workload once per round, with the contenders of a workload in sequence', () => {
  const plan = planRuns(workloads, contenders, 3, seededRandom(7));
  expect(plan).toHaveLength(3 * workloads.length * contenders.length);
  expect(new Set(plan.map(({ round, workload, contender }) => `${round} ${workload.id} ${contender}`)).size).toBe(
    plan.length,
  );
  for (let i = 0; i < plan.length; i += contenders.length) {
    expect(new Set(plan.slice(i, i + contenders.length).map(({ workload }) => workload.id)).size).toBe(1);
  }
});

it('uses another order for each round and seed, and the same order for the same seed', () => {
  const order = (seed: number): string[] =>
    planRuns(workloads, contenders, 2, seededRandom(seed)).map(({ workload, contender }) => workload.id + contender);
  expect(order(7)).toEqual(order(7));
  expect(order(7)).not.toEqual(order(8));
  const half = order(7).length / 2;
  expect(order(7).slice(0, half)).not.toEqual(order(7).slice(half));
});

it('gives each workload a unique id', () => {
  for (const all of [workloads, preempting]) expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});

it('fills the nodes with complete gangs that are enough for all pods that preempt them', () => {
  for (const workload of preempting) {
    const { gangSize, perNode } = workload.victims!;
    expect(workload.nodes % gangSize).toBe(0);
    expect(victimCount(workload)).toBe(workload.nodes * perNode);
    expect(minimumVictims(workload, podCount(workload))).toBeLessThanOrEqual(victimCount(workload));
  }
});

it.each([
  [2000, workloads],
  [10_000, workloadsOf({ quick: false, long: true, preemption: false, native: false, nodes: [1000, 5000] })],
])('has %i pods, rounded down to complete gangs, on any number of nodes', (pods, planned) => {
  for (const workload of planned.filter(({ nodes }) => nodes >= 1000)) {
    expect(podCount(workload)).toBeLessThanOrEqual(pods);
    expect(podCount(workload)).toBeGreaterThan(pods - workload.gangSize);
  }
});

it('creates all members of each gang, in both pod orders', () => {
  for (const workload of workloads) {
    const gangOf = gangOfEachPod(workload);
    expect(gangOf).toHaveLength(podCount(workload));
    const sizes = new Array<number>(workload.gangs).fill(0);
    for (const gang of gangOf) sizes[gang]!++;
    expect(new Set(sizes)).toEqual(new Set([workload.gangSize]));
    expect(gangOf[1]).toBe(workload.order === 'interleaved' || workload.gangSize === 1 ? 1 : 0);
  }
});
