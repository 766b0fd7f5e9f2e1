import type { ListedObject } from '../../api/listed-object.ts';
import type { Node } from '../../api/node.ts';
import type { Pod, PodTemplate } from '../../api/pod.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import type { ResourceNames } from '../../api/resource-names.ts';
import type {
  SnapshotAmounts,
  SnapshotGroup,
  SnapshotNode,
  SnapshotPod,
  SnapshotReservation,
  SnapshotReservationPlan,
  SnapshotTemplate,
} from '../../api/explain/snapshot.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { Reservation, ReservationPlan } from '../../cluster/reservation.ts';

/** A driver without a limit; JSON has no undefined. */
export const noLimit = -1;

/**
 * Writes what the cluster cache holds as plain objects. Each field is named here, so that nothing else can get into a file. Pods of one shape share
 * one entry of `templates`, reservations of one plan one of `plans`.
 */
export class SnapshotEncoder {
  readonly templates: SnapshotTemplate[] = [];
  readonly plans: SnapshotReservationPlan[] = [];
  readonly #names: ResourceNames;
  /** template -> its index in `templates` */
  readonly #templates = new Map<PodTemplate, number>();
  /** plan -> its index in `plans` */
  readonly #plans = new Map<ReservationPlan, number>();

  constructor(names: ResourceNames) {
    this.#names = names;
  }

  node(node: Node): SnapshotNode {
    const { name, uid, resourceVersion, labels, taints, unschedulable, images, declaredFeatures } = node;
    return {
      ...{ name, uid, resourceVersion, labels, taints, unschedulable, images, declaredFeatures },
      allocatable: this.#amounts(node.allocatable),
    };
  }

  pod(pod: Pod, assumedOn?: string): SnapshotPod {
    const { uid, namespace, name, resourceVersion, labels, podGroupKey, otherGroupKey, membershipDisagreement } = pod;
    const { schedulerName, priority, nodeName, nominatedNodeName, phase, deleting, schedulingGates } = pod;
    const { podScheduled, predictedStart, plannedGroupUid, plannedQuorum, startedAt, deletionCost } = pod;
    const { runtimeSeconds, invalidRuntime, groupKeyOfOther, deadlineSeconds, controller, failedBecause } = pod;
    const { disruptedBy, preemptionMark, volumes, creationTimestamp, deletionTimestamp } = pod;
    return {
      ...{ uid, namespace, name, resourceVersion, labels, podGroupKey, otherGroupKey, membershipDisagreement },
      ...{ schedulerName, priority, nodeName, nominatedNodeName, phase, deleting, schedulingGates },
      ...{ podScheduled, predictedStart, plannedGroupUid, plannedQuorum, startedAt, deletionCost },
      ...{ runtimeSeconds, invalidRuntime, groupKeyOfOther, deadlineSeconds, controller, failedBecause },
      ...{ disruptedBy, preemptionMark, volumes, deletionTimestamp: orZero(deletionTimestamp) },
      creationTimestamp: orZero(creationTimestamp),
      template: this.#indexOf(pod.template),
      ...(assumedOn !== undefined && { assumedOn }),
    };
  }

  group(spec: GangSpec): SnapshotGroup {
    const { source, uid, key, minMember, startsAnew, confirmsStart, releases, repairGraceMs } = spec;
    const { minResources, scheduleTimeoutSeconds, startedSince, unsupported, memberPriority } = spec;
    const { startIsSticky, waitsForGates, evictedWhole, memberPreemptionPolicy } = spec;
    return {
      ...{ source, uid, key, minMember, startsAnew, confirmsStart, releases, repairGraceMs },
      creationTimestamp: orZero(spec.creationTimestamp),
      ...(minResources !== undefined && { minResources: this.#amounts(minResources) }),
      ...(scheduleTimeoutSeconds !== undefined && { scheduleTimeoutSeconds }),
      ...(startedSince !== undefined && { startedSince }),
      ...(unsupported !== undefined && { unsupported }),
      ...(startIsSticky !== undefined && { startIsSticky }),
      ...(waitsForGates !== undefined && { waitsForGates }),
      ...(evictedWhole !== undefined && { evictedWhole }),
      ...(memberPriority !== undefined && { memberPriority }),
      ...(memberPreemptionPolicy !== undefined && { memberPreemptionPolicy }),
    };
  }

  /** The projections of these kinds name each of their fields. */
  object(object: ListedObject): ListedObject {
    if (object.kind !== 'CSINode') return object;
    const drivers = Object.entries(object.drivers).map(([driver, limit]) => [driver, limit ?? noLimit]);
    return { ...object, drivers: Object.fromEntries(drivers) as Readonly<Record<string, number>> };
  }

  /** `isKnown`: whether `pods` has the owner, by uid. */
  reservation(
    { kind, owner, nodeName, isExclusive, isKept, plan }: Reservation,
    isKnown: (uid: string) => boolean,
  ): SnapshotReservation {
    return {
      kind,
      owner: isKnown(owner.uid) ? owner.uid : this.pod(owner),
      nodeName,
      ...(isExclusive !== undefined && { isExclusive }),
      ...(isKept !== undefined && { isKept }),
      ...(plan !== undefined && { plan: this.#planIndexOf(plan) }),
    };
  }

  #indexOf(template: PodTemplate): number {
    let index = this.#templates.get(template);
    if (index === undefined) {
      index = this.templates.push(this.#template(template)) - 1;
      this.#templates.set(template, index);
    }
    return index;
  }

  #template(template: PodTemplate): SnapshotTemplate {
    const { nonZeroMilliCpu, nonZeroMemory, nodeSelector, nodeAffinity, tolerations, hostPorts, podAffinity } =
      template;
    const { topologySpread, controller, images, resourceClaims, neededFeatures, terminationGracePeriodSeconds } =
      template;
    const { neverPreempts, isOfDaemonSet, isStatic } = template;
    return {
      requests: this.#amounts(template.requests),
      ...{ nonZeroMilliCpu, nonZeroMemory, nodeSelector, nodeAffinity, tolerations, hostPorts, podAffinity },
      ...{ topologySpread, controller, images, resourceClaims, neededFeatures, terminationGracePeriodSeconds },
      ...(neverPreempts !== undefined && { neverPreempts }),
      ...(isOfDaemonSet !== undefined && { isOfDaemonSet }),
      ...(isStatic !== undefined && { isStatic }),
    };
  }

  #planIndexOf(plan: ReservationPlan): number {
    let index = this.#plans.get(plan);
    if (index === undefined) {
      const { priority, excludesSiblings } = plan;
      index = this.plans.push({ priority, ...(excludesSiblings !== undefined && { excludesSiblings }) }) - 1;
      this.#plans.set(plan, index);
    }
    return index;
  }

  #amounts({ ids, amounts }: ResourceList): SnapshotAmounts {
    return Object.fromEntries(ids.map((id, i) => [this.#names.nameOf(id), amounts[i]!]));
  }
}

/** JSON has no NaN, which is what a time becomes that is none. */
function orZero(time: number): number {
  return Number.isFinite(time) ? time : 0;
}
