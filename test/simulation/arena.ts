import type { Fault, GroupPlan, MemberPlan, NodePlan, Step } from './scenario.ts';

/** What leads to preemption, on nodes of its own. */
export interface Contest {
  readonly nodes: readonly NodePlan[];
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
  /** Its faults strike until then. */
  readonly faultsUntil: number;
  /** Two schedulers run for election. */
  readonly needsStandby?: true;
}

/** Zone of these nodes. Only pods that name it may be there. */
export const arena = 'arena';

export function arenaNode(name: string, milliCpu: number): NodePlan {
  return { name, milliCpu, mebibytes: 4_096, pods: 10, labels: { zone: arena }, isReserved: true };
}

/** A group in the arena whose members come together. */
export function entity(
  name: string,
  minMember: number,
  members: readonly MemberPlan[],
  priority: number,
  more: Partial<GroupPlan> = {},
): GroupPlan {
  return {
    name,
    minMember,
    members: members.map((member) => ({ ...member, zone: arena })),
    priority,
    spacingMs: 0,
    groupAfterMs: -20,
    recreation: 'never',
    ...more,
  };
}
