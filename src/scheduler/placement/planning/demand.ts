import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { GangView } from '../../../cluster/gang.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import { SignedMembers } from './signed-members.ts';

/** What an entity asks for. */
export interface Demand {
  /** The members that may be placed now, in order of arrival. */
  readonly members: readonly Pod[];
  /** How many of them have to be, together. */
  readonly needed: number;
  /** Undefined for a lone pod. */
  readonly gang: GangView | undefined;
  /** What makes the members alike, for one attempt. */
  readonly signed: SignedMembers;
}

export function demandOf(cluster: Cluster, schedulingEntity: SchedulingEntity): Demand {
  if (schedulingEntity.kind === 'gang') {
    const { gang } = schedulingEntity;
    const members = [...gang.members.values()].filter((member) => gang.pending.has(member.uid));
    return { members, needed: gang.missing, gang, signed: new SignedMembers(members) };
  }
  const pod = cluster.openPod(schedulingEntity.pod.uid);
  const members = pod === undefined ? [] : [pod];
  return { members, needed: 1, gang: undefined, signed: new SignedMembers(members) };
}
