import type { GangView } from '../../cluster/gang.ts';

/** Where nobody is, a group begins anew. */
export function hasAnybodyLeft(gang: GangView): boolean {
  const states = ['bound', 'stranded', 'leaving', 'succeeded'] as const;
  return states.some((state) => gang.count(state) > 0);
}

export function isOnNode(state: ReturnType<GangView['stateOf']>): boolean {
  return state === 'bound' || state === 'stranded';
}

/** Members that are or have been on nodes, maybe not at one time. */
export function onceOnNodes(gang: GangView): number {
  let count = 0;
  for (const { nodeName, uid } of gang.members.values()) if (nodeName !== '' && gang.stateOf(uid) !== 'former') count++;
  return count;
}
