import { expect } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';
import type { PictureOptions } from '../../../testkit/picture.ts';
import type { Plan } from '../planning/planner.ts';

export function pictureWith(...extra: NonNullable<PictureOptions['extra']>): Picture {
  return new Picture({ plugins: defaultPlugins, extra });
}

/** Plans, undoes it, and says what it was. The picture must be as before. */
export function trial(picture: Picture, members: readonly Pod[], needed = members.length): Plan {
  const before = picture.rooms();
  const transaction = picture.cluster.begin();
  const plan = picture.planner.plan(
    { profile: picture.profile, members, needed, groupState: new CycleState() },
    transaction,
  );
  expect(plan.placements.length).toBe(picture.cluster.assumedCount);
  picture.planner.unreserve(picture.profile, plan.placements);
  transaction.rollback();
  expect(picture.rooms()).toEqual(before);
  return plan;
}

export function nodesByPod(plan: Plan): Record<string, string> {
  return Object.fromEntries(plan.placements.map(({ pod, nodeName }) => [pod.name, nodeName]));
}
