import { expect } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import type { CoreHarnessOptions } from '../../../testkit/core-harness.ts';
import type { Plan } from '../planning/planner.ts';

export function harnessWith(...extra: NonNullable<CoreHarnessOptions['extra']>): CoreHarness {
  return new CoreHarness({ plugins: defaultPlugins, extra });
}

/** Plans, rolls the plan back and returns it. Expects the cluster cache to be as before. */
export function dryRun(harness: CoreHarness, members: readonly Pod[], needed = members.length): Plan {
  const before = harness.capacities();
  const transaction = harness.cluster.begin();
  const plan = harness.planner.plan(
    { profile: harness.profile, members, needed, groupState: new CycleState() },
    transaction,
  );
  const inEffect = plan.blocked === undefined ? plan.assignments : [];
  expect(harness.cluster.assumedCount).toBe(inEffect.length);
  harness.planner.unreserve(harness.profile, inEffect);
  transaction.rollback();
  expect(harness.capacities()).toEqual(before);
  return plan;
}

export function nodesByPod(plan: Plan): Record<string, string> {
  return Object.fromEntries(plan.assignments.map(({ pod, nodeName }) => [pod.name, nodeName]));
}
