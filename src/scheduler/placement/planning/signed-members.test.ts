import { expect, it } from 'vitest';
import { Pace } from '../../../base/pace.ts';
import { finish } from '../../../base/steps.ts';
import { collectGarbage } from '../../../base/testing/collect-garbage.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { EquivalenceKeys } from '../../../queue/equivalence/equivalence-keys.ts';
import { Picture } from '../../../testkit/picture.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { demandOf } from './demand.ts';
import type { Demand } from './demand.ts';
import { kindsOf } from './kinds.ts';
import { SignedMembers } from './signed-members.ts';

/** A gang of 1,000 of two kinds in turn, whose members have been signed in this attempt. */
function signedGang(): { readonly picture: Picture; readonly demand: Demand } {
  const picture = new Picture({ plugins: defaultPlugins });
  picture.group({ name: 'g', minMember: 1000 });
  for (let i = 0; i < 1000; i++) picture.pod({ name: `g-${i}`, group: 'g', cpu: 1 + (i % 2) });
  const demand = demandOf(picture.cluster, { kind: 'gang', gang: picture.cluster.gang('default/g')! });
  finish(demand.signed.of(picture.profile, new Pace()));
  return { picture, demand };
}

/** How often something gives way that may do nothing in a turn. */
function pausesOf(steps: (pace: Pace) => Generator<unknown, unknown>): number {
  const pace = new Pace();
  pace.allow(0);
  const work = steps(pace);
  let pauses = 0;
  while (work.next().done !== true) pauses++;
  return pauses;
}

it('members that are signed already are sorted into kinds in more than one turn', () => {
  const { picture, demand } = signedGang();
  const request = { ...demand, profile: picture.profile, groupState: undefined };
  expect(pausesOf((pace) => kindsOf(picture.cluster, request, pace))).toBeGreaterThan(0);
});

it('an equivalence key is made of members that are signed already in more than one turn', () => {
  const { picture, demand } = signedGang();
  const { cluster, profile } = picture;
  const profiles = { hints: () => ({ concernsGangs: false }), isOurs: () => true, of: () => profile };
  const keys = new EquivalenceKeys({ cluster, profiles });
  const candidate = { kind: 'gang', gang: cluster.gang('default/g')! } as const;
  expect(finish(keys.of(profile, candidate, demand, new Pace()))).toContain('default-scheduler');
  expect(pausesOf((pace) => keys.of(profile, candidate, demand, pace))).toBeGreaterThan(0);
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
  SignedMembers.prototype.of = function* (profile, pace) {
    const signatures = yield* (of.value as SignedMembers['of']).call(this, profile, pace);
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
