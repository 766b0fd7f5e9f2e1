import type { Pod } from '../../api/pod.ts';
import { formatAmount } from '../../api/format-amount.ts';
import { podsId } from '../../api/resource-names.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Plugin, Wait } from '../../framework/plugin.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import { ClusterCapacity } from './cluster-capacity.ts';
import { readCoschedulingArgs } from './coscheduling-args.ts';
import type { CoschedulingArgs } from './coscheduling-args.ts';
import { groupAbsent, pluginName, readiness, readinessAlone } from './readiness.ts';

/** Stored in the state that all members of a gang share within one cycle. */
interface PermitBarrier {
  /** Number of members that must pass Permit together. */
  readonly needed: number;
  readonly capacity: Status | undefined;
  passed: number;
}

const barrierKey = 'Coscheduling/barrier';

/**
 * Gang policy: defines the quorum and when a group is rejected. The scheduler owns the order of members, the transaction and the
 * waiting pods.
 *
 * - PreEnqueue: keeps the group out of the active queue until it is ready, and the members of a started one while it is held back.
 * - PreFilter: checks that the group is still ready, and that the cluster has minResources free in total.
 * - Permit: makes each member wait until the last one of the quorum arrives, which allows all of them.
 * - Unreserve: rejects all waiting members when one of them fails.
 */
export class Coscheduling implements Plugin {
  readonly name = pluginName;
  readonly decidesGangs = true;
  readonly #args: CoschedulingArgs;
  readonly #handle: PluginHandle;
  readonly #capacity: ClusterCapacity;

  constructor(args: unknown, handle: PluginHandle) {
    this.#args = readCoschedulingArgs(args);
    this.#handle = handle;
    this.#capacity = new ClusterCapacity(handle.cluster);
  }

  preEnqueue(schedulingEntity: SchedulingEntity): Status | undefined {
    const { schedulerName, cluster } = this.#handle;
    if (schedulingEntity.kind === 'gang') return readiness(schedulingEntity.gang, schedulerName);
    const { pod } = schedulingEntity;
    const gang = pod.podGroupKey === undefined ? undefined : cluster.gang(pod.podGroupKey);
    const mayWait = gang !== undefined && (gang.isHeldBack || gang.misfits.size > 0);
    return mayWait ? readinessAlone(pod, gang, schedulerName) : undefined;
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    if (pod.podGroupKey === undefined) return undefined;
    const gang = this.#handle.cluster.gang(pod.podGroupKey);
    if (gang?.spec === undefined) return groupAbsent(pod.podGroupKey);
    const { schedulerName } = this.#handle;
    const status =
      state.group === undefined ? readinessAlone(pod, gang, schedulerName) : readiness(gang, schedulerName);
    return status ?? this.#barrier(state, gang, gang.spec).capacity;
  }

  permit(state: CycleState, pod: Pod): Status | Wait | undefined {
    if (pod.podGroupKey === undefined) return undefined;
    const gang = this.#handle.cluster.gang(pod.podGroupKey);
    if (gang?.spec === undefined) {
      return new Status('Unschedulable', `PodGroup ${pod.podGroupKey} not found`, pluginName);
    }
    const barrier = this.#barrier(state, gang, gang.spec);
    barrier.passed++;
    if (barrier.passed < barrier.needed) return { waitMs: this.#waitMs(gang.spec) };
    for (const waiting of this.#otherWaitingMembers(pod)) waiting.allow(pluginName);
    return undefined;
  }

  unreserve(state: CycleState, pod: Pod): void {
    // A member beyond the quorum is scheduled alone and fails alone. Before Permit no member waits.
    const barrier = state.group?.read<PermitBarrier>(barrierKey);
    if (barrier === undefined || barrier.passed === 0) return;
    for (const waiting of this.#otherWaitingMembers(pod)) {
      waiting.reject(pluginName, `member ${pod.name} of PodGroup ${pod.podGroupKey} could not start`);
    }
  }

  eventsToRegister(): readonly EventRegistration[] {
    const hasCapacity = (pod: Pod): boolean => {
      const gang = this.#handle.cluster.gang(pod.podGroupKey ?? '');
      return gang?.spec === undefined || this.#checkCapacity(gang, gang.spec) === undefined;
    };
    return [
      { resource: 'Node', actions: ['Add', 'Update'], hint: hasCapacity },
      { resource: 'AssignedPod', actions: ['Update', 'Delete'], hint: hasCapacity },
    ];
  }

  /** Returns the barrier of the gang's cycle; creates one for a pod that is scheduled alone. */
  #barrier(state: CycleState, gang: GangView, spec: GangSpec): PermitBarrier {
    const shared = state.group ?? state;
    let barrier = shared.read<PermitBarrier>(barrierKey);
    if (barrier === undefined) {
      barrier = { needed: gang.missing, capacity: this.#checkCapacity(gang, spec), passed: 0 };
      shared.write(barrierKey, barrier);
    }
    return barrier;
  }

  #checkCapacity(gang: GangView, { minResources, minMember }: GangSpec): Status | undefined {
    if (minResources === undefined || gang.missing === 0) return undefined;
    const { cluster } = this.#handle;
    // minResources is the total for the quorum, so it includes what counted members use or used.
    const own = [...gang.members.values()].filter(({ uid }) => gang.counts(uid));
    const shortfall = this.#capacity.shortfall(withSlots(minResources, minMember), own);
    if (shortfall === undefined) return undefined;
    const resource = cluster.resources.nameOf(shortfall.id);
    return new Status(
      shortfall.isPermanent ? 'UnschedulableAndUnresolvable' : 'Unschedulable',
      {
        text:
          `its minResources request ${formatAmount(resource, shortfall.needed)} ${resource}, ` +
          `but only ${formatAmount(resource, shortfall.free)} is free in the whole cluster`,
        code: 'GroupExceedsCluster',
        resource,
      },
      pluginName,
    );
  }

  #waitMs(spec: GangSpec): number {
    const seconds = spec.scheduleTimeoutSeconds ?? 0;
    if (seconds > 0) return seconds * 1000;
    return (this.#args.permitWaitingTimeSeconds || 60) * 1000;
  }

  #otherWaitingMembers(pod: Pod): ReturnType<PluginHandle['waitingPods']['all']> {
    if (pod.podGroupKey === undefined || this.#handle.waitingPods.size === 0) return [];
    return this.#handle.waitingPods
      .all()
      .filter((waiting) => waiting.pod.uid !== pod.uid && waiting.pod.podGroupKey === pod.podGroupKey);
  }
}

/** Returns minResources plus one pod slot per member, unless it names pods itself. */
function withSlots(minResources: ResourceList, minMember: number): ResourceList {
  if (minResources.ids.includes(podsId)) return minResources;
  return { ids: [...minResources.ids, podsId], amounts: [...minResources.amounts, minMember] };
}
