import type { GangView } from '../../cluster/gang-view.ts';

/** Returns whether the gang has a member that is bound, stranded or succeeded. A gang without one starts from scratch. */
export function hasBoundMembers(gang: GangView): boolean {
  const states = ['bound', 'stranded', 'succeeded'] as const;
  return states.some((state) => gang.count(state) > 0);
}

export function isBoundOrStranded(state: ReturnType<GangView['stateOf']>): boolean {
  return state === 'bound' || state === 'stranded';
}

/** Counts the members that are bound or have been, not necessarily at the same time. */
export function countEverBound(gang: GangView): number {
  let count = 0;
  for (const { nodeName, uid } of gang.members.values()) if (nodeName !== '' && gang.stateOf(uid) !== 'former') count++;
  return count;
}
