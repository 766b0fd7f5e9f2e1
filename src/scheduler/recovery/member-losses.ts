import { isAdmissionRejection } from '../../api/admission-rejection.ts';
import { isBoundForAnother } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { isTolerated } from '../../api/tolerations.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import { isLostTo } from '../../cluster/lost-node.ts';
import type { Logger } from '../../observability/logger.ts';
import { memberLost, membersStranded } from '../verdicts/events.ts';
import type { Reservations } from '../preemption/reservations.ts';
import type { NodeRejections } from './node-rejections.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import type { EventSink } from '../ports.ts';
import type { Profiles } from '../profiles.ts';

export interface MemberLossesOptions {
  readonly cluster: Cluster;
  readonly reservations: Pick<Reservations, 'keep' | 'end'>;
  readonly dryRuns: DryRuns;
  readonly rejections: Pick<NodeRejections, 'notAdmitted' | 'barredFor'>;
  readonly profiles: Pick<Profiles, 'of' | 'decidesGangs' | 'isOurs'>;
  /** Returns true while the group is being released or on hold. No capacity is reserved for it then. */
  readonly isHeld: (groupKey: string) => boolean;
  readonly events: EventSink;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/** Capacity that is reserved for the replacement of a lost member. */
interface ReservedCapacity {
  /** Uid of the group that may use the capacity. */
  readonly groupUid: string;
  /** The lost member. */
  readonly lost: Pod;
  /** The owner of the reservation: a placeholder pod, because the name of the replacement is not known yet. */
  readonly owner: Pod;
  /** Clock.monotonic() */
  readonly until: number;
}

/** Maximum number of reservations that one dry run places on other nodes. */
const maxDryRunMembers = 16;
/** Minimum time between two reports on one group. */
const reportEveryMs = 10_000;

/**
 * Reserves capacity when a member leaves its node before it has finished and its group falls below minMember: the node rejected it or
 * died, or the pod was deleted or evicted. The member's owner creates a replacement. For each replacement, capacity is reserved for the
 * group's grace: on the lost member's node, or on another one if that node is unusable and a dry run finds one. Any new member may use it,
 * whatever its name. The reservation ends early once the group is complete, ends or is released.
 */
export class MemberLosses {
  readonly #options: MemberLossesOptions;
  /** group key -> its reservations, oldest first */
  readonly #reserved = new Map<string, ReservedCapacity[]>();
  /** group key -> Clock.monotonic() of the latest report of a lost member */
  readonly #reportedAt = new Map<string, number>();
  /** group key -> uids of its members that were reported as stranded */
  readonly #stranded = new Map<string, ReadonlySet<string>>();

  constructor(options: MemberLossesOptions) {
    this.#options = options;
  }

  /** The pod has left its node and has not succeeded: the API shows it failed or gone, and the cluster cache is up to date. */
  lost(pod: Pod, nodeName: string): void {
    const { cluster, profiles, rejections, logger } = this.#options;
    const isRejected = pod.phase === 'Failed' && isAdmissionRejection(pod.failedBecause);
    if (isRejected && profiles.isOurs(pod.schedulerName)) {
      logger.warn('a node did not admit a pod', { pod: pod.key, node: nodeName, reason: pod.failedBecause });
      rejections.notAdmitted(pod, nodeName);
    }
    const gang = pod.podGroupKey === undefined ? undefined : cluster.gang(pod.podGroupKey);
    if (gang?.spec === undefined || !profiles.decidesGangs(pod.schedulerName)) return;
    if (isBoundForAnother(pod, gang.spec.uid) || this.#options.isHeld(gang.key)) return;
    const needed = neededBy(gang);
    if (needed === 0) return;
    const reservedOn = this.#standing(gang.key).length < needed ? this.#reserve(gang, pod, nodeName) : undefined;
    this.#notify(gang, pod, nodeName, isRejected, reservedOn);
  }

  /** The group or one of its members has changed. */
  reconcile(key: string): void {
    const gang = this.#options.cluster.gang(key);
    if (this.#reserved.has(key)) this.#endSurplus(key, gang);
    this.#reportStranded(key, gang);
    if (gang === undefined) this.#reportedAt.delete(key);
  }

  /** The node was deleted, or what scheduling reads of it has changed. */
  nodeChanged(nodeName: string): void {
    if (this.#reserved.size === 0) return;
    const { cluster, reservations } = this.#options;
    for (const key of [...this.#reserved.keys()]) {
      for (const { owner, lost } of this.#standing(key)) {
        const reservation = cluster.reservationOf(owner.uid)!;
        if (reservation.nodeName !== nodeName || this.#isUsable(nodeName, lost)) continue;
        reservations.end(reservation);
        const gang = cluster.gang(key);
        if (gang?.spec !== undefined) this.#reserveElsewhere(gang, lost, owner);
      }
    }
  }

  /** Returns the node on which capacity is now reserved; undefined if there is none. */
  #reserve(gang: Gang, lost: Pod, nodeName: string): string | undefined {
    // The capacity of a preemption victim belongs to the preemptor.
    if (lost.disruptedBy === 'PreemptionByScheduler') return undefined;
    const { uid, repairGraceMs } = gang.spec!;
    if (repairGraceMs === 0) return undefined;
    const owner: Pod = { ...lost, uid: `instead-of/${lost.uid}`, nodeName: '', phase: 'Pending', deleting: false };
    const until = this.#options.clock.monotonic() + repairGraceMs;
    const capacities = this.#reserved.get(gang.key) ?? [];
    this.#reserved.set(gang.key, capacities);
    capacities.push({ groupUid: uid, lost, owner, until });
    if (!this.#isUsable(nodeName, lost)) return this.#reserveElsewhere(gang, lost, owner);
    this.#reservation(owner, nodeName, until);
    return nodeName;
  }

  /** Runs a dry run with the replacement and all others that already have a reservation, so that all of them fit together. */
  #reserveElsewhere(gang: Gang, { template }: Pod, owner: Pod): string | undefined {
    const { cluster, dryRuns, profiles, clock, logger } = this.#options;
    const capacities = (this.#reserved.get(gang.key) ?? []).filter(
      (capacity) => capacity.owner === owner || cluster.reservationOf(capacity.owner.uid) !== undefined,
    );
    const own = capacities.find((capacity) => capacity.owner === owner);
    if (
      own === undefined ||
      own.until <= clock.monotonic() ||
      capacities.length > maxDryRunMembers ||
      cluster.isPlanning
    ) {
      return undefined;
    }
    /** uid of a replacement in the dry run -> its reservation */
    const replacements = new Map(capacities.map((capacity) => [`dry-run/${capacity.owner.uid}`, capacity]));
    // Fillers make the gang ready. The dry run places only the replacements.
    const others = Math.max(0, gang.missing - gang.pending.size - replacements.size);
    const arrivals = [...replacements].map(([uid, capacity]) => ({ ...capacity.owner, uid, nominatedNodeName: '' }));
    const fillers = Array.from({ length: others }, (_, i) => ({ ...arrivals[0]!, uid: `dry-run/filler-${i}` }));
    const barred = this.#options.rejections.barredFor({ ...owner, template });
    const within =
      barred.size === 0
        ? undefined
        : new Set(cluster.nodes.map(({ name }) => name).filter((name) => !barred.has(name)));
    const schedulingEntity = { kind: 'gang', gang } as const;
    try {
      const { fits, plan } = dryRuns.run(profiles.of({ kind: 'pod', pod: owner }), schedulingEntity, {
        arrivals: [...arrivals, ...fillers],
        members: arrivals,
        need: arrivals.length,
        ...(within !== undefined && { within }),
      });
      if (!fits) return undefined;
      for (const { pod, nodeName } of plan) {
        const capacity = replacements.get(pod.uid)!;
        this.#reservation(capacity.owner, nodeName, capacity.until);
      }
      return cluster.reservationOf(owner.uid)?.nodeName;
    } catch (error) {
      logger.warn('could not find capacity for the replacement of a lost member', { podGroup: gang.key, error });
      return undefined;
    }
  }

  #reservation(owner: Pod, nodeName: string, until: number): void {
    const { reservations, clock } = this.#options;
    reservations.keep([{ kind: 'repair', owner, nodeName }], until - clock.monotonic());
  }

  /** Returns whether a replacement of the lost member could use the capacity that it left on the node. */
  #isUsable(nodeName: string, lost: Pod): boolean {
    const { cluster, rejections } = this.#options;
    const info = cluster.node(nodeName);
    if (info === undefined || isLostTo(lost, info.node) || rejections.barredFor(lost).has(nodeName)) return false;
    const { node } = info;
    if (node.unschedulable) return false;
    return node.taints.every(
      (taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, lost.template.tolerations),
    );
  }

  /** Returns the group's current reservations and forgets those that have ended. */
  #standing(key: string): readonly ReservedCapacity[] {
    const capacities = this.#reserved.get(key);
    if (capacities === undefined) return [];
    const { cluster } = this.#options;
    const standing = capacities.filter(({ owner }) => cluster.reservationOf(owner.uid) !== undefined);
    if (standing.length === 0) this.#reserved.delete(key);
    else this.#reserved.set(key, standing);
    return standing;
  }

  #endSurplus(key: string, gang: Gang | undefined): void {
    const standing = this.#standing(key);
    const isHeld = this.#options.isHeld(key);
    const [ours, foreign] = partition(standing, ({ groupUid }) => gang?.spec?.uid === groupUid && !isHeld);
    const needed = gang === undefined ? 0 : neededBy(gang);
    for (const capacity of foreign) this.#end(capacity);
    let surplus = ours.length - needed;
    if (surplus <= 0) return;
    // Reservations that a replacement already uses end first.
    const [used, unused] = partition(ours, (capacity) => this.#isUsed(capacity));
    for (const capacity of [...used, ...unused]) if (surplus-- > 0) this.#end(capacity);
    this.#standing(key);
  }

  /** Returns whether a pod like the lost member, and not older, is on the node. */
  #isUsed({ lost, owner }: ReservedCapacity): boolean {
    const { cluster } = this.#options;
    const node = cluster.node(cluster.reservationOf(owner.uid)?.nodeName ?? '');
    for (const pod of node?.pods.values() ?? []) {
      if (pod.podGroupKey !== lost.podGroupKey || pod.template !== lost.template) continue;
      if (pod.uid !== lost.uid && pod.creationTimestamp >= lost.creationTimestamp) return true;
    }
    return false;
  }

  #end({ owner }: ReservedCapacity): void {
    const reservation = this.#options.cluster.reservationOf(owner.uid);
    if (reservation !== undefined) this.#options.reservations.end(reservation);
  }

  #notify(gang: Gang, pod: Pod, nodeName: string, isRejected: boolean, reservedOn: string | undefined): void {
    const { clock, events, logger } = this.#options;
    const now = clock.monotonic();
    if (now - (this.#reportedAt.get(gang.key) ?? -Infinity) < reportEveryMs) return;
    this.#reportedAt.set(gang.key, now);
    const seconds = gang.spec!.repairGraceMs / 1000;
    const what = isRejected
      ? `node ${nodeName} rejected member ${pod.name} (${pod.failedBecause})`
      : pod.phase === 'Failed'
        ? `member ${pod.name} failed on node ${nodeName}`
        : `member ${pod.name} is gone from node ${nodeName}`;
    const capacity =
      reservedOn === undefined
        ? ''
        : `; ${reservedOn === nodeName ? 'its capacity there' : `capacity on node ${reservedOn}`} is reserved for its replacement for up to ${seconds} s`;
    const note = `${what}: ${gang.missing} of ${gang.spec!.minMember} required members ${gang.missing === 1 ? 'is' : 'are'} missing${capacity}`;
    const level = wasDeleted(pod) ? 'info' : 'warn';
    logger[level]('a group lost a member', { podGroup: gang.key, pod: pod.name, node: nodeName, reservedOn });
    const event = memberLost(gang, pod, note);
    if (event !== undefined) events.record(event);
  }

  #reportStranded(key: string, gang: Gang | undefined): void {
    if (gang === undefined || gang.count('stranded') === 0) {
      this.#stranded.delete(key);
      return;
    }
    const reported = this.#stranded.get(key);
    const stranded = [...gang.members.values()].filter(({ uid }) => gang.stateOf(uid) === 'stranded');
    this.#stranded.set(key, new Set(stranded.map(({ uid }) => uid)));
    if (stranded.every(({ uid }) => reported?.has(uid) === true)) return;
    const { profiles, events, logger } = this.#options;
    const ours = stranded.filter(({ schedulerName }) => profiles.decidesGangs(schedulerName));
    if (ours.length === 0) return;
    logger.warn('group members are on nodes that are gone or not ready', { podGroup: key, members: ours.length });
    const event = membersStranded(gang, ours);
    if (event !== undefined) events.record(event);
  }
}

/** Returns how many members the owner has to recreate; 0 if no member is bound or being bound. */
function neededBy(gang: Gang): number {
  const { spec, started } = gang;
  const bound = gang.count('bound');
  if (spec === undefined || bound + gang.count('planned') === 0) return 0;
  const counted = bound + (started ? gang.count('succeeded') + gang.count('stranded') : 0);
  return Math.max(0, spec.minMember - counted);
}

/** Returns whether a user or a controller deleted the pod, and neither a node nor an eviction ended it. */
function wasDeleted({ phase, deleting, disruptedBy }: Pod): boolean {
  return (deleting || phase !== 'Failed') && disruptedBy === undefined;
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
