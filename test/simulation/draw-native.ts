import type { Dice } from './dice.ts';
import type { GroupPlan, MemberPlan, Step } from './scenario.ts';

type Creation = Extract<Step, { kind: 'create-group' }>;

/** When something happens to a group: while it is being bound, or later. */
function soonAfter(dice: Dice, at: number): number {
  return at + (dice.chance(0.5) ? dice.int(10, 1_500) : dice.int(1_500, 12_000));
}

/**
 * Makes a third of the groups those of Kubernetes itself, and adds what only happens to these. The others may get members that are in one of
 * them by their spec.
 */
export function drawNatives(dice: Dice, steps: readonly Step[], isCalm: boolean): Step[] {
  const natives: string[] = [];
  const drawn = steps.map((step): Step => {
    if (step.kind === 'tenant' && dice.chance(1 / 3)) return { ...step, plan: { ...step.plan, isNative: true } };
    if (step.kind !== 'create-group' || step.group.isLoose === true) return step;
    const isNative = dice.chance(1 / 3);
    if (isNative || step.group.native !== undefined) natives.push(step.group.name);
    if (!isNative || step.group.native !== undefined) return step;
    return { ...step, group: drawNative(dice, step.group) };
  });
  if (isCalm) return drawn;
  return [...drawn.flatMap((step) => drawMore(dice, step, natives)), ...drawOutage(dice, natives)];
}

function drawNative(dice: Dice, group: GroupPlan): GroupPlan {
  const policy = dice.chance(0.15) ? 'basic' : 'gang';
  return { ...group, native: { policy, ...(dice.chance(0.5) && { goesWhole: true }) } };
}

/** Returns the step, and what else happens to the group that it creates. */
function drawMore(dice: Dice, step: Step, natives: readonly string[]): Step[] {
  if (step.kind !== 'create-group' || step.group.isLoose === true) return [step];
  return step.group.native === undefined ? drawGuests(dice, step, natives) : drawTroubles(dice, step);
}

/** A member of the group may be in a group of Kubernetes itself by its spec, until it is deleted. */
function drawGuests(dice: Dice, step: Creation, natives: readonly string[]): Step[] {
  const { at, group } = step;
  if (natives.length === 0 || !dice.chance(0.12)) return [step];
  const alsoIn = dice.pick(natives);
  const changed = { ...step, group: { ...group, members: withFirst(group.members, { alsoIn }) } };
  return dice.chance(0.3) ? [changed] : [changed, deletionOfFirst(group, soonAfter(dice, at))];
}

function drawTroubles(dice: Dice, step: Creation): Step[] {
  const { at, group } = step;
  const { name, members } = group;
  const isGang = group.native!.policy === 'gang';
  switch (dice.int(0, 11)) {
    case 0:
      return isGang ? drawGates(dice, step) : [step];
    case 1: {
      const priority = dice.pick([0, 10, 50, 100].filter((other) => other !== group.priority));
      const changed = { ...step, group: { ...group, members: withFirst(members, { priority }) } };
      return dice.chance(0.2) ? [changed] : [changed, deletionOfFirst(group, soonAfter(dice, at))];
    }
    case 2: {
      const resizedTo = (minMember: number): Step => ({
        ...{ at: soonAfter(dice, at), kind: 'resize-group', group: name, minMember },
      });
      return [step, resizedTo(dice.int(1, members.length + 2)), resizedTo(dice.int(1, members.length))];
    }
    case 3: {
      const goneAt = soonAfter(dice, at);
      const again: Step = { at: goneAt + dice.int(50, 2_000), kind: 'remake-group', group: name };
      return [step, { at: goneAt, kind: 'delete-group', group: name, withMembers: false }, again];
    }
    case 4:
      return [step, drawTwin(dice, step)];
    case 5: {
      const changed = { ...step, group: { ...group, members: withFirst(members, { isForeign: true }) } };
      return dice.chance(0.3) ? [changed] : [changed, deletionOfFirst(group, soonAfter(dice, at))];
    }
    default:
      return [step];
  }
}

/** Some members have scheduling gates, which are removed later. */
function drawGates(dice: Dice, step: Creation): Step[] {
  const { at, group } = step;
  const members = group.members.map((member): MemberPlan => (dice.chance(0.4) ? { ...member, gated: true } : member));
  const changed = { ...step, group: { ...group, members, minMember: Math.max(1, group.minMember - dice.int(0, 2)) } };
  const open: Step = { at: soonAfter(dice, at), kind: 'ungate', group: group.name };
  return dice.chance(0.15) ? [changed] : [changed, open];
}

/** A group of scheduling.x-k8s.io with the same name. */
function drawTwin(dice: Dice, { at, group }: Creation): Step {
  const { native: _, ...rest } = group;
  const members = group.members.slice(0, 2);
  const twin: GroupPlan = {
    ...rest,
    name: `${group.name}-twin`,
    objectName: group.name,
    members,
    minMember: dice.int(1, members.length + 1),
  };
  return { at: Math.max(0, at + dice.int(-500, 1_000)), kind: 'create-group', group: twin };
}

/** The API server does not serve these groups for a while, as after a restart with another configuration. */
function drawOutage(dice: Dice, natives: readonly string[]): Step[] {
  if (natives.length === 0 || !dice.chance(0.05)) return [];
  return [{ at: dice.int(0, 8_000), kind: 'native-api-gone', forMs: dice.int(500, 40_000) }];
}

function withFirst([first, ...others]: readonly MemberPlan[], change: Partial<MemberPlan>): MemberPlan[] {
  return first === undefined ? [] : [{ ...first, ...change }, ...others];
}

function deletionOfFirst({ name }: GroupPlan, at: number): Step {
  return { at, kind: 'delete-member', group: name, member: 0 };
}
