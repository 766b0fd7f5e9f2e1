import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { GangView } from '../../../cluster/gang-view.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import { SignedMembers } from './signed-members.ts';

/** The members of an entity to place. */
export interface Demand {
  /** The members that may be placed now, in order of arrival. */
  readonly members: readonly Pod[];
  /** How many of them must be placed together. */
  readonly needed: number;
  /** Undefined for a single pod. */
  readonly gang: GangView | undefined;
  /** The members' signatures, for one attempt. */
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
