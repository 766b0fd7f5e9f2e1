import { expect, it } from 'vitest';
import { WorkBudget } from '../../../base/work-budget.ts';
import { finish } from '../../../base/yielding.ts';
import { collectGarbage } from '../../../base/testing/collect-garbage.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { EquivalenceKeys } from '../../../queue/equivalence/equivalence-keys.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { demandOf } from './demand.ts';
import type { Demand } from './demand.ts';
import { podClassesOf } from './pod-classes.ts';
import { SignedMembers } from './signed-members.ts';

/** Returns a gang with 1,000 members of two alternating pod classes, which are signed already. */
function signedGang(): { readonly harness: CoreHarness; readonly demand: Demand } {
  const harness = new CoreHarness({ plugins: defaultPlugins });
  harness.group({ name: 'g', minMember: 1000 });
  for (let i = 0; i < 1000; i++) harness.pod({ name: `g-${i}`, group: 'g', cpu: 1 + (i % 2) });
  const demand = demandOf(harness.cluster, { kind: 'gang', gang: harness.cluster.gang('default/g')! });
  finish(demand.signed.of(harness.profile, new WorkBudget()));
  return { harness, demand };
}

/** Returns how many times the steps yield if the budget allows no work in a turn. */
function yieldsOf(steps: (budget: WorkBudget) => Generator<unknown, unknown>): number {
  const budget = new WorkBudget();
  budget.allow(0);
  const work = steps(budget);
  let yields = 0;
  while (work.next().done !== true) yields++;
  return yields;
}

it('sorting signed members into pod classes yields', () => {
  const { harness, demand } = signedGang();
  const request = { ...demand, profile: harness.profile, groupState: undefined };
  expect(yieldsOf((budget) => podClassesOf(harness.cluster, request, budget))).toBeGreaterThan(0);
});

it('computing an equivalence key from signed members yields', () => {
  const { harness, demand } = signedGang();
  const { cluster, profile } = harness;
  const profiles = { hints: () => ({ concernsGangs: false }), isOurs: () => true, of: () => profile };
  const keys = new EquivalenceKeys({ cluster, profiles });
  const schedulingEntity = { kind: 'gang', gang: cluster.gang('default/g')! } as const;
  expect(finish(keys.of(profile, schedulingEntity, demand, new WorkBudget()))).toContain('default-scheduler');
  expect(yieldsOf((budget) => keys.of(profile, schedulingEntity, demand, budget))).toBeGreaterThan(0);
});

it("the report of an equivalence class does not retain the members' signatures", async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'n', cpu: 1 });
  for (let g = 0; g < 5; g++) {
    core.group({ name: `g${g}`, minMember: 3 });
    core.members(3, { group: `g${g}`, cpu: 2 + g });
  }
  const made: WeakRef<object>[] = [];
  const of = Object.getOwnPropertyDescriptor(SignedMembers.prototype, 'of')!;
  SignedMembers.prototype.of = function* (profile, budget) {
    const signatures = yield* (of.value as SignedMembers['of']).call(this, profile, budget);
    made.push(new WeakRef(signatures));
    return signatures;
  };
  try {
    while ((await core.attempt()) !== undefined);
  } finally {
    Object.defineProperty(SignedMembers.prototype, 'of', of);
  }
  expect(made.length).toBeGreaterThanOrEqual(5);
  const reachable = (): Set<object | undefined> =>
    new Set(made.map((array) => array.deref()).filter((array) => array !== undefined));
  // The last attempt's signatures may still be reachable.
  await collectGarbage(() => reachable().size <= 1);
});
