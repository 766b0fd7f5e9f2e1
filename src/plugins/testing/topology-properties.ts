import { expect } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { mayHelp, newlyFeasible, resultsOf } from './topology-world.ts';
import type { PluginResults, TopologyWorld } from './topology-world.ts';

/** A simple second implementation of the plugin under test. */
export interface ReferencePlugin {
  resultsOf(pod: Pod): PluginResults;
}

/** Expects that AddPod and RemovePod for the other pods have the same effect as a new PreFilter. */
export function expectAddAndRemoveToEqualPreFilter(
  world: TopologyWorld,
  reference: ReferencePlugin,
  [pod, ...others]: readonly Pod[],
): void {
  const { plugin, cluster } = world;
  const state = new CycleState();
  if (plugin.preFilter!(state, pod!) !== undefined) return;
  const before = reference.resultsOf(pod!);
  const landed = others.map((other) => ({ other, node: cluster.node(world.pick(cluster.nodes).name)! }));
  for (const { other, node } of landed) {
    node.addPod(other);
    plugin.preFilterAddPod!(state, pod!, other, node);
    expect(resultsOf(world, pod!, state)).toEqual(reference.resultsOf(pod!));
  }
  for (const { other, node } of landed.reverse()) {
    node.removePod(other);
    plugin.preFilterRemovePod!(state, pod!, other, node);
  }
  expect(resultsOf(world, pod!, state)).toEqual(before);
}

/** Expects the same results for pods with the same signature. */
export function expectSameResultsPerSignature(
  world: TopologyWorld,
  reference: ReferencePlugin,
  pods: readonly Pod[],
): void {
  /** signature -> results for the first pod with it */
  const known = new Map<string, PluginResults>();
  for (const pod of pods) {
    const text = world.plugin.sign!(pod)!;
    const results = reference.resultsOf(pod);
    if (known.has(text)) expect(results).toEqual(known.get(text));
    known.set(text, results);
  }
}

/** Changes the world a few times, and expects that events which the plugin's hints skip add no feasible node. */
export function expectHintsToMissNothing(world: TopologyWorld, pods: readonly Pod[], options: () => PodOptions): void {
  for (let change = 0; change < 6; change++) {
    const before = pods.map((pod) => resultsOf(world, pod));
    const event = world.change(options);
    for (const [i, pod] of pods.entries()) {
      if (!mayHelp(world, pod, event)) expect(newlyFeasible(before[i]!, resultsOf(world, pod))).toEqual([]);
    }
  }
}
