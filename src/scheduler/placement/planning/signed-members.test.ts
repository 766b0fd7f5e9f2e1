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

/** A gang of 1,000 of two kinds in turn, whose members have been signed in this attempt. */
function signedGang(): { readonly harness: CoreHarness; readonly demand: Demand } {
  const harness = new CoreHarness({ plugins: defaultPlugins });
  harness.group({ name: 'g', minMember: 1000 });
  for (let i = 0; i < 1000; i++) harness.pod({ name: `g-${i}`, group: 'g', cpu: 1 + (i % 2) });
  const demand = demandOf(harness.cluster, { kind: 'gang', gang: harness.cluster.gang('default/g')! });
  finish(demand.signed.of(harness.profile, new WorkBudget()));
  return { harness, demand };
}

/** How often something gives way that may do nothing in a turn. */
function pausesOf(steps: (budget: WorkBudget) => Generator<unknown, unknown>): number {
  const budget = new WorkBudget();
  budget.allow(0);
  const work = steps(budget);
  let pauses = 0;
  while (work.next().done !== true) pauses++;
  return pauses;
}

it('members that are signed already are sorted into kinds in more than one turn', () => {
  const { harness, demand } = signedGang();
  const request = { ...demand, profile: harness.profile, groupState: undefined };
  expect(pausesOf((budget) => podClassesOf(harness.cluster, request, budget))).toBeGreaterThan(0);
});

it('an equivalence key is made of members that are signed already in more than one turn', () => {
  const { harness, demand } = signedGang();
  const { cluster, profile } = harness;
  const profiles = { hints: () => ({ concernsGangs: false }), isOurs: () => true, of: () => profile };
  const keys = new EquivalenceKeys({ cluster, profiles });
  const schedulingEntity = { kind: 'gang', gang: cluster.gang('default/g')! } as const;
  expect(finish(keys.of(profile, schedulingEntity, demand, new WorkBudget()))).toContain('default-scheduler');
  expect(pausesOf((budget) => keys.of(profile, schedulingEntity, demand, budget))).toBeGreaterThan(0);
});

it('what members signed is not kept with the report of an equivalence class', async () => {
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
  const held = (): Set<object | undefined> =>
    new Set(made.map((array) => array.deref()).filter((array) => array !== undefined));
  // The last attempt's may still be at hand somewhere.
  await collectGarbage(() => held().size <= 1);
});
