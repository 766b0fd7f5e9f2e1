import type { GroupPlan, MemberPlan } from './scenario.ts';

/** Returns a function that plans groups whose members run only on nodes of the zone. */
export function groupsIn(
  zone: string,
): (name: string, minMember: number, members: readonly MemberPlan[], more?: Partial<GroupPlan>) => GroupPlan {
  return (name, minMember, members, more = {}) => ({
    name,
    minMember,
    members: members.map((member) => ({ ...member, zone })),
    priority: 0,
    spacingMs: 0,
    groupAfterMs: -20,
    recreation: 'never',
    ...more,
  });
}
