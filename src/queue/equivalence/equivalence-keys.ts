import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { EventHints } from '../../framework/event-hints.ts';
import type { PodSignatures, Profile } from '../../framework/profile.ts';
import { workPerMember } from '../../framework/work-per-member.ts';

/** Demand of an entity in one attempt. */
export interface KeyedDemand {
  readonly members: readonly Pod[];
  readonly needed: number;
  /** Undefined for a single pod. */
  readonly gang: GangView | undefined;
  /** Signatures of the members, in their order. */
  readonly signed: { of(profile: Profile, budget: WorkBudget): Yielding<readonly PodSignatures[]> };
}

export interface EquivalenceKeysOptions {
  readonly cluster: Pick<Cluster, 'reservationOf' | 'hasReservationFor' | 'gang' | 'hasReservations'>;
  readonly profiles: {
    hints(schedulingEntity: SchedulingEntity): Pick<EventHints, 'concernsGangs'>;
    isOurs(schedulerName: string): boolean;
    of(schedulingEntity: SchedulingEntity): Profile;
  };
  /** Absent: it does not matter how long a pod runs. */
  readonly runTimes?: { keyOf(pod: Pod): string } | undefined;
}

/** Computes the key of an entity's equivalence class: entities with equal keys get the same result from the same cluster state. */
export class EquivalenceKeys {
  readonly #options: EquivalenceKeysOptions;
  /** Key of the latest pod without volumes; the next pod is often equal to it. */
  #last: { readonly signatures: PodSignatures; readonly priority: number; readonly podKey: string } | undefined;

  constructor(options: EquivalenceKeysOptions) {
    this.#options = options;
  }

  /**
   * Returns undefined if the result may depend on more than a key can express. The entity then gets a class of its own. `namespace` is set
   * if the result depends on something that counts for this namespace only. Throws PluginFailure.
   */
  *of(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    { members, needed, gang, signed }: KeyedDemand,
    budget: WorkBudget,
    namespace?: string,
  ): Yielding<string | undefined> {
    // Plugins that evaluate a particular gang must see each entity.
    if (profile.judgesUnsigned || this.#options.profiles.hints(schedulingEntity).concernsGangs) return undefined;
    // Bound members and reservations belong to a single entity.
    if (gang !== undefined && (gang.started || gang.present > 0 || gang.count('leaving') > 0)) return undefined;
    if (this.#hasReservation(members)) return undefined;
    /** pod key -> number of members with it */
    const counts = new Map<string, number>();
    const signatures = yield* signed.of(profile, budget);
    for (const [i, pod] of members.entries()) {
      if (!this.#isLikeLast(pod, signatures[i]!)) {
        budget.spend(workPerMember);
        if (budget.isDue) yield;
      }
      const podKey = this.#podKey(pod, signatures[i]!);
      if (podKey === undefined) return undefined;
      counts.set(podKey, (counts.get(podKey) ?? 0) + 1);
    }
    const podKeys = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    const group = profile.gangPolicy === undefined ? undefined : this.#groupOf(schedulingEntity);
    return JSON.stringify([
      profile.schedulerName,
      namespace,
      schedulingEntity.kind,
      group,
      needed,
      gang?.spec?.minResources,
      podKeys,
    ]);
  }

  /**
   * Returns a function that finds the counterpart of `pod` among the members of another entity of the class: the member at the same position
   * among those with the same pod key.
   */
  *counterpart(
    profile: Profile,
    { members, signed }: KeyedDemand,
    pod: Pod,
    budget: WorkBudget,
  ): Yielding<(others: readonly Pod[]) => Pod> {
    const signatures = yield* signed.of(profile, budget);
    const podKey = this.#podKey(pod, profile.signaturesOf(pod));
    let position = 0;
    for (const [i, member] of members.entries()) {
      if (member === pod) break;
      if (signatures[i] !== signatures[i - 1]) {
        budget.spend(workPerMember);
        if (budget.isDue) yield;
      }
      if (this.#podKey(member, signatures[i]!) === podKey) position++;
    }
    return this.#counterpartAt(profile, podKey, position);
  }

  /** A separate method, because the class keeps the result, which must not retain the members' signatures. */
  #counterpartAt(profile: Profile, podKey: string | undefined, position: number): (others: readonly Pod[]) => Pod {
    return (others) =>
      others.filter((other) => this.#podKey(other, profile.signaturesOf(other)) === podKey)[position] ?? others[0]!;
  }

  /** Returns whether both states of a pod are equal to the plugins that place it; false if unknown. */
  looksAlike(before: Pod, now: Pod): boolean {
    const { profiles } = this.#options;
    if (now.nodeName !== '' || !profiles.isOurs(now.schedulerName)) return true;
    const profile = profiles.of({ kind: 'pod', pod: now });
    if (readsUnsigned(profile)) return false;
    try {
      const podKey = this.#podKey(now, profile.signaturesOf(now));
      return podKey !== undefined && podKey === this.#podKey(before, profile.signaturesOf(before));
    } catch {
      return false;
    }
  }

  /** The gang policy evaluates a single pod by its group, so it shares a class only with members of its group. */
  #groupOf(schedulingEntity: SchedulingEntity): unknown {
    if (schedulingEntity.kind === 'gang' || schedulingEntity.pod.podGroupKey === undefined) return undefined;
    const gang = this.#options.cluster.gang(schedulingEntity.pod.podGroupKey);
    return [gang?.key, gang?.spec?.uid, gang?.isHeldBack, [...(gang?.pendingBySchedulerName.keys() ?? [])].sort()];
  }

  /** Returns whether a member of the group has a reservation. It counts for some members of its group only, or for none. */
  #hasReservation(members: readonly Pod[]): boolean {
    const { cluster } = this.#options;
    if (!cluster.hasReservations) return false;
    const group = members[0]?.podGroupKey;
    if (group === undefined) return members.some(({ uid }) => cluster.reservationOf(uid) !== undefined);
    return cluster.hasReservationFor(group);
  }

  /**
   * Combines what plugins read of the pod, its priority and run time (which reservations exclude it), and its volumes (which events may help it).
   */
  #podKey(pod: Pod, signatures: PodSignatures): string | undefined {
    const { withPostFilter: signature } = signatures;
    if (signature === undefined) return undefined;
    const { priority, namespace, volumes } = pod;
    const runTime = this.#options.runTimes?.keyOf(pod) ?? '';
    if (volumes !== noVolumes || runTime !== '') {
      const ranked = runTime === '' ? priority : `${priority}\u0003${runTime}`;
      // An event on a PersistentVolumeClaim helps only pods that use it, even if the signatures of other pods are equal.
      const own = volumes === noVolumes ? '' : JSON.stringify([namespace, volumes]);
      return `${ranked}\u0003${own}\u0003${signature}`;
    }
    if (!this.#isLikeLast(pod, signatures))
      this.#last = { signatures, priority, podKey: `${priority}\u0003\u0003${signature}` };
    return this.#last?.podKey;
  }

  #isLikeLast({ priority, volumes }: Pod, signatures: PodSignatures): boolean {
    return volumes === noVolumes && this.#last?.signatures === signatures && this.#last.priority === priority;
  }
}

/** Signatures do not cover Permit. */
function readsUnsigned(profile: Profile): boolean {
  if (profile.judgesUnsigned) return true;
  return profile.plugins.some((plugin) => plugin.permit !== undefined && plugin.name !== profile.gangPolicy);
}
