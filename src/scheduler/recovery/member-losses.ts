import { isAdmissionRejection } from '../../api/admission-rejection.ts';
import { isBoundForAnother, preemptionReason } from '../../api/pod.ts';
import type { Pod, PodTemplate } from '../../api/pod.ts';
import { minResources } from '../../api/resource-list.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import { addCount } from '../../base/add-count.ts';
import type { Clock } from '../../base/clock.ts';
import { partition } from '../../base/partition.ts';
import { Amounts } from '../../cluster/amounts.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import { mustRespect } from '../../cluster/reservation.ts';
import type { Reservation } from '../../cluster/reservation.ts';
import type { Logger } from '../../observability/logger.ts';
import { memberLost, membersStranded } from '../verdicts/events.ts';
import type { Reservations } from '../preemption/reservations.ts';
import { isUsableFor } from '../preemption/usable-node.ts';
import type { GroupRecord, GroupRecords, ReservedCapacity } from './group-records.ts';
import { NamespaceLimits } from './namespace-limits.ts';
import type { NodeRejections } from './node-rejections.ts';
import { SeenBindings } from './seen-bindings.ts';
import type { DryRuns } from '../placement/planning/dry-runs.ts';
import type { EventSink } from '../ports.ts';
import type { Profiles } from '../profiles.ts';

export interface MemberLossesOptions {
  readonly cluster: Cluster;
  readonly reservations: Pick<Reservations, 'keep' | 'end' | 'ended'>;
  readonly dryRuns: DryRuns;
  readonly rejections: Pick<NodeRejections, 'notAdmitted' | 'barredFor'>;
  readonly profiles: Pick<Profiles, 'of' | 'decidesGangs' | 'isOurs'>;
  readonly records: GroupRecords;
  /** Returns true while the group is being released or on hold. No capacity is reserved for it then. */
  readonly isHeld: (groupKey: string) => boolean;
  readonly events: EventSink;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/** Maximum number of reservations that one dry run places on other nodes. */
const maxDryRunMembers = 16;
/** Minimum time between two reports on one group. */
const reportEveryMs = 10_000;
/** How long capacity is reserved for a member that could not be bound, while its group backs off. */
const failedBindingMs = 30_000;
const none: ReadonlySet<never> = new Set();

/**
 * Reserves capacity when a member leaves its node before it has finished and its group falls below minMember: the node rejected it or
 * died, or the pod was deleted or evicted. The member's owner creates a replacement. The reservation for it lasts for the group's
 * grace period: on the lost member's node, or on another one if that node is unusable and a dry run finds one. Any new member may use the
 * capacity, whatever its name. The reservation ends early once the group is complete, ends or is released, or this scheduler binds a pod of higher
 * priority that takes the capacity.
 *
 * Users of a namespace delete their own pods, so what they may reserve that way is limited (I10):
 * - The process reserves capacity only for a member whose Binding it saw (`SeenBindings`).
 * - A group's bound members and reservations together never exceed the most members that it had bound at the same time.
 * - A reservation never exceeds the requests of the lost member at its Binding, or the least since then if the member was resized.
 * - A namespace's reservations never exceed, in any resource, the most that its members had bound at the same time (`NamespaceLimits`).
 * - A reservation lasts no longer than the lost member had been bound, unless as many members like it are still bound as have
 *   reservations.
 * - It excludes only pods of equal or lower priority. Only a group that never started excludes all pods, and only until its grace period
 *   ends.
 *
 * Nor can users end the reservations of others with a pod that they bind themselves or resize: its node may never admit what it requests.
 */
export class MemberLosses {
  readonly #options: MemberLossesOptions;
  readonly #records: GroupRecords;
  /** uid of the owner of a reservation for a lost member -> the reserved capacity */
  readonly #reserved = new Map<string, ReservedCapacity>();
  readonly #limits = new NamespaceLimits();
  readonly #seen: SeenBindings;

  constructor(options: MemberLossesOptions) {
    this.#options = options;
    this.#records = options.records;
    const { cluster, clock, reservations } = options;
    this.#seen = new SeenBindings({ cluster, clock, limits: this.#limits });
    reservations.ended.add((reservation) => this.#ended(reservation));
  }

  /** A pod as the API now shows it; undefined: it was deleted. */
  podSeen(uid: string, pod: Pod | undefined): void {
    this.#seen.podSeen(uid, pod);
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
    if (neededBy(gang) === 0) return;
    const capacity = this.#reserve(gang, pod, nodeName);
    this.#notify(gang, pod, nodeName, isRejected, capacity);
  }

  /**
   * A member could not be bound while other members are bound, which cannot move. Reserves its capacity while the group backs off. The
   * reservation expires: the node itself may be the reason for the failure.
   */
  bindingFailed(gang: GangView, owner: Pod, nodeName: string): void {
    const ms = Math.min(failedBindingMs, this.#neverStartedUntil(gang) - this.#options.clock.monotonic());
    if (gang.spec === undefined || ms <= 0) return;
    const record = this.#records.of(gang.key);
    record.failed = (record.failed ?? new Set()).add(owner.uid);
    this.#options.reservations.keep({ kind: 'repair', owner, nodeName, isExclusive: true }, ms);
  }

  /**
   * This scheduler has bound the pod. Ends repairs that the pod displaces: it did not have to respect them, and has left too little. The
   * other repairs of the same group end with them, because together they were to complete it.
   */
  bound(pod: Pod, nodeName: string): void {
    const { cluster } = this.#options;
    const info = cluster.hasReservations ? cluster.node(nodeName) : undefined;
    if (info === undefined || info.reservations.size === 0) return;
    const assumed = [...info.pods.values()].filter(({ uid }) => cluster.isAssumed(uid));
    const isInUse = ({ podGroupKey }: Pod): boolean =>
      podGroupKey === pod.podGroupKey || assumed.some((other) => other.podGroupKey === podGroupKey);
    const repairs = [...info.reservations.values()].filter(
      ({ kind, owner, plan }) => kind === 'repair' && plan === undefined && !isInUse(owner),
    );
    const reserved = new Amounts();
    for (const reservation of repairs.sort((a, b) => b.owner.priority - a.owner.priority)) {
      const { ids, amounts } = reservation.owner.template.requests;
      const fits = ids.every((id, i) => info.free(id) - reserved.of(id) >= amounts[i]!);
      if (fits || mustRespect(pod, reservation)) reserved.add(reservation.owner.template.requests);
      else this.#endAllOf(reservation);
    }
  }

  #endAllOf(displaced: Reservation): void {
    const standing = [...this.#standing(displaced.owner.podGroupKey!)];
    this.#options.reservations.end(displaced);
    for (const { owner } of standing) this.#end(owner.uid);
  }

  /** The group or one of its members has changed. */
  reconcile(key: string): void {
    const gang = this.#options.cluster.gang(key);
    this.#seen.groupSeen(key);
    const record = this.#records.get(key);
    if (record?.failed !== undefined && gang?.comesFirst !== true) this.#endFailed(record);
    if (record?.reserved !== undefined) this.#endSurplus(record.reserved, gang);
    this.#reportStranded(key, gang);
  }

  /** The node was deleted, or what scheduling reads of it has changed. */
  nodeChanged(nodeName: string): void {
    const { cluster, reservations } = this.#options;
    for (const reservation of [...cluster.reservationsOn(nodeName)]) {
      const capacity = this.#reserved.get(reservation.owner.uid);
      if (capacity === undefined || this.#isUsable(nodeName, capacity.lost)) continue;
      reservations.end(reservation);
      const gang = cluster.gang(reservation.owner.podGroupKey!);
      if (gang?.spec !== undefined) this.#reserveElsewhere(gang, capacity);
    }
  }

  /**
   * Returns the uids of the terminating members whose capacity will be reserved for replacements against pods of this priority: all of a group
   * that never started, and as many as a started group needs.
   */
  keptMembers(key: string, against: number): ReadonlySet<string> {
    const gang = this.#options.cluster.gang(key);
    if (gang?.spec === undefined || gang.spec.repairGraceMs === 0 || this.#options.isHeld(key)) return none;
    const limit = gang.comesFirst ? Infinity : gang.started ? neededBy(gang) - this.#standing(key).size : 0;
    if (limit <= 0) return none;
    const kept = [...gang.members.values()].filter(
      ({ uid, deleting, priority, disruptedBy, schedulerName }) =>
        deleting &&
        (gang.comesFirst || (priority >= against && disruptedBy !== preemptionReason)) &&
        this.#seen.of(uid)?.groupKey === key &&
        this.#options.profiles.decidesGangs(schedulerName),
    );
    const uids = kept.map(({ uid }) => uid);
    return new Set(limit < uids.length ? uids.sort().slice(0, limit) : uids);
  }

  /** Returns the capacity, reserved or not; undefined if the member is not entitled to a reservation. */
  #reserve(gang: Gang, pod: Pod, nodeName: string): ReservedCapacity | undefined {
    const { clock } = this.#options;
    const binding = this.#seen.of(pod.uid);
    // The capacity of a preemption victim belongs to the preemptor.
    if (binding?.groupKey !== gang.key || pod.disruptedBy === preemptionReason) return undefined;
    const lost: Pod = { ...pod, template: binding.template };
    const template = withRequests(binding.template, minResources(binding.requests, pod.template.requests));
    const isWithinLimit = this.#limits.allows(pod.namespace, template.requests);
    this.#seen.remove(pod.uid);
    const standing = this.#standing(gang.key);
    if (!isWithinLimit || standing.size >= this.#allowedFor(gang)) return undefined;
    const uid = `instead-of/${pod.uid}`;
    const owner: Pod = { ...lost, template, uid, nodeName: '', phase: 'Pending', deleting: false };
    const now = clock.monotonic();
    const { uid: groupUid } = gang.spec!;
    const capacity: ReservedCapacity = { groupUid, lost, lostAt: now, boundMs: now - binding.since, owner, until: now };
    const alike = [...standing].filter((each) => each.lost.template === lost.template).length;
    capacity.until = this.#endOf(gang, capacity, alike);
    if (capacity.until <= now) return undefined;
    if (this.#isUsable(nodeName, lost) && this.#isUnreserved(gang, lost, nodeName))
      this.#keep(gang, capacity, nodeName);
    else this.#reserveElsewhere(gang, capacity);
    return capacity;
  }

  /**
   * Returns whether the lost member fits beside the preemptions that have reserved capacity on its node: one may have waited for its end since
   * before the group needed a replacement. A group that never started does not give way to them, because it could neither start nor end.
   */
  #isUnreserved(gang: Gang, lost: Pod, nodeName: string): boolean {
    const info = this.#options.cluster.node(nodeName);
    if (!gang.started || info === undefined) return true;
    const reserved = new Amounts();
    for (const reservation of info.reservations.values()) {
      if (reservation.plan === undefined || reservation.kind === 'backfill') continue;
      if (info.pods.has(reservation.owner.uid)) continue;
      if (mustRespect(lost, reservation)) reserved.add(reservation.owner.template.requests);
    }
    const { ids, amounts } = lost.template.requests;
    return ids.every((id, i) => reserved.of(id) === 0 || info.free(id) - reserved.of(id) >= amounts[i]!);
  }

  /** Returns how many members of the group may have capacity reserved: at most as many as it misses and has lost. */
  #allowedFor(gang: Gang): number {
    return Math.min(neededBy(gang), this.#seen.most(gang.key) - this.#seen.count(gang.key));
  }

  /** Returns Clock.monotonic() when the reservation must end. `alike`: number of older reservations of the group for members like this one. */
  #endOf(gang: Gang, { lost, lostAt, boundMs }: ReservedCapacity, alike: number): number {
    const isCovered = alike < this.#seen.count(gang.key, lost.template);
    const ms = isCovered ? gang.spec!.repairGraceMs : Math.min(gang.spec!.repairGraceMs, boundMs);
    return Math.min(lostAt + ms, this.#neverStartedUntil(gang));
  }

  /** Returns Clock.monotonic() when the grace period of a partially bound group ends that never started; Infinity once it has started. */
  #neverStartedUntil({ key, spec, started }: GangView): number {
    const since = this.#records.get(key)?.period?.since;
    return started || since === undefined ? Infinity : since + (spec?.repairGraceMs ?? 0);
  }

  /** Runs a dry run with the replacement and all others that already have a reservation, so that all of them fit together. */
  #reserveElsewhere(gang: Gang, own: ReservedCapacity): void {
    const { cluster, dryRuns, profiles, clock, logger } = this.#options;
    const { owner, lost } = own;
    const capacities = [...this.#standing(gang.key), own];
    if (own.until <= clock.monotonic() || capacities.length > maxDryRunMembers || cluster.isPlanning) return;
    /** uid of a replacement in the dry run -> its reservation */
    const replacements = new Map(capacities.map((capacity) => [`dry-run/${capacity.owner.uid}`, capacity]));
    // Fillers make the gang ready. The dry run places only the replacements.
    const others = Math.max(0, gang.missing - gang.pending.size - replacements.size);
    const arrivals = [...replacements].map(([uid, capacity]) => ({ ...capacity.owner, uid, nominatedNodeName: '' }));
    const fillers = Array.from({ length: others }, (_, i) => ({ ...arrivals[0]!, uid: `dry-run/filler-${i}` }));
    const barred = this.#options.rejections.barredFor(lost);
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
        ignoresBackfillOf: () => true,
        ...(within !== undefined && { within }),
      });
      if (!fits) return;
      for (const { pod, nodeName } of plan) {
        const capacity = replacements.get(pod.uid)!;
        this.#keep(gang, capacity, nodeName);
      }
    } catch (error) {
      logger.warn('could not find capacity for the replacement of a lost member', { podGroup: gang.key, error });
    }
  }

  #keep(gang: Gang, capacity: ReservedCapacity, nodeName: string): void {
    const { reservations, clock } = this.#options;
    const { owner, until } = capacity;
    const isExclusive = !gang.started;
    reservations.keep({ kind: 'repair', owner, nodeName, isExclusive }, until - clock.monotonic());
    if (this.#reserved.has(owner.uid)) return;
    this.#reserved.set(owner.uid, capacity);
    this.#limits.reserve(owner.namespace, owner.template.requests);
    const record = this.#records.of(gang.key);
    record.reserved = (record.reserved ?? new Set()).add(capacity);
  }

  #ended({ owner }: Reservation): void {
    const capacity = this.#reserved.get(owner.uid);
    if (capacity === undefined) return;
    this.#reserved.delete(owner.uid);
    this.#limits.release(owner.namespace, owner.template.requests);
    const record = this.#records.get(owner.podGroupKey!);
    record?.reserved?.delete(capacity);
    if (record?.reserved?.size === 0) record.reserved = undefined;
  }

  /** Returns whether a replacement of the lost member could use the capacity that it left on the node. */
  #isUsable(nodeName: string, lost: Pod): boolean {
    const { cluster, rejections } = this.#options;
    return isUsableFor(lost, cluster.node(nodeName)) && !rejections.barredFor(lost).has(nodeName);
  }

  /** Returns the capacity that is reserved for lost members of the group. */
  #standing(key: string): ReadonlySet<ReservedCapacity> {
    return this.#records.get(key)?.reserved ?? none;
  }

  #endSurplus(standing: ReadonlySet<ReservedCapacity>, gang: Gang | undefined): void {
    const [oldest] = standing;
    const isOver = gang?.spec === undefined || gang.spec.uid !== oldest?.groupUid;
    const allowed = isOver || this.#options.isHeld(gang.key) ? 0 : this.#allowedFor(gang);
    let surplus = standing.size - allowed;
    if (surplus > 0) {
      // Reservations that a replacement already uses end first.
      const [used, unused] = partition([...standing], (capacity) => this.#isUsed(capacity));
      for (const { owner } of [...used, ...unused]) if (surplus-- > 0) this.#end(owner.uid);
    }
    if (gang?.spec !== undefined) this.#adjustEnds(gang);
  }

  /** Members like the lost ones may have come and gone, and the group may have started or have another grace. */
  #adjustEnds(gang: Gang): void {
    const { cluster, clock } = this.#options;
    /** template -> number of older reservations for members with it */
    const older = new Map<PodTemplate, number>();
    for (const capacity of [...this.#standing(gang.key)]) {
      const { template } = capacity.lost;
      const until = this.#endOf(gang, capacity, older.get(template) ?? 0);
      addCount(older, template, 1);
      const { nodeName, isExclusive } = cluster.reservationOf(capacity.owner.uid)!;
      if (until === capacity.until && isExclusive === !gang.started) continue;
      capacity.until = until;
      if (until <= clock.monotonic()) this.#end(capacity.owner.uid);
      else this.#keep(gang, capacity, nodeName);
    }
  }

  /** The group has started, or none of its bound members needs the others any more. */
  #endFailed(record: GroupRecord): void {
    for (const uid of record.failed ?? []) this.#end(uid);
    record.failed = undefined;
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

  #end(uid: string): void {
    const reservation = this.#options.cluster.reservationOf(uid);
    if (reservation?.kind === 'repair') this.#options.reservations.end(reservation);
  }

  #notify(gang: Gang, pod: Pod, nodeName: string, isRejected: boolean, capacity: ReservedCapacity | undefined): void {
    const { cluster, clock, events, logger } = this.#options;
    const now = clock.monotonic();
    const record = this.#records.of(gang.key);
    if (now - (record.reportedAt ?? -Infinity) < reportEveryMs) return;
    record.reportedAt = now;
    const reservedOn = capacity && cluster.reservationOf(capacity.owner.uid)?.nodeName;
    const seconds = Math.ceil(((capacity?.until ?? now) - now) / 1000);
    const what = isRejected
      ? `node ${nodeName} rejected member ${pod.name} (${pod.failedBecause})`
      : pod.phase === 'Failed'
        ? `member ${pod.name} failed on node ${nodeName}`
        : `member ${pod.name} is gone from node ${nodeName}`;
    const kept =
      reservedOn === undefined
        ? ''
        : `; ${reservedOn === nodeName ? 'its capacity there' : 'capacity on another node'} is reserved for its replacement for up to ${seconds} s`;
    const note = `${what}: ${gang.missing} of ${gang.spec!.minMember} required members ${gang.missing === 1 ? 'is' : 'are'} missing${kept}`;
    const level = wasDeleted(pod) ? 'info' : 'warn';
    logger[level]('a group lost a member', { podGroup: gang.key, pod: pod.name, node: nodeName, reservedOn });
    const event = memberLost(gang, pod, note);
    if (event !== undefined) events.record(event);
  }

  #reportStranded(key: string, gang: Gang | undefined): void {
    // Pods that are scheduled one by one do not wait for each other's return.
    if (gang === undefined || gang.count('stranded') === 0 || gang.spec?.minMember === 0) {
      const known = this.#records.get(key);
      if (known !== undefined) known.stranded = undefined;
      return;
    }
    const record = this.#records.of(key);
    const reported = record.stranded;
    const { stranded } = gang;
    record.stranded = new Set(stranded.map(({ uid }) => uid));
    if (stranded.every(({ uid }) => reported?.has(uid) === true)) return;
    const { profiles, events, logger } = this.#options;
    const ours = stranded.filter(({ schedulerName }) => profiles.decidesGangs(schedulerName));
    if (ours.length === 0) return;
    logger.warn('group members are on nodes that are gone or not ready', { podGroup: key, members: ours.length });
    const event = membersStranded(gang, ours);
    if (event !== undefined) events.record(event);
  }
}

/** Returns how many members the owner has to recreate; 0 if no member is being bound, or bound without being preempted. */
function neededBy(gang: Gang): number {
  const { spec, counted } = gang;
  const planned = gang.count('planned');
  if (spec === undefined || gang.count('bound') - gang.countMarked('bound') + planned === 0) return 0;
  return Math.max(0, spec.minMember - (counted - planned));
}

/** Returns whether a user or a controller deleted the pod, and neither a node nor an eviction ended it. */
function wasDeleted({ phase, deleting, disruptedBy }: Pod): boolean {
  return (deleting || phase !== 'Failed') && disruptedBy === undefined;
}

function withRequests(template: PodTemplate, requests: ResourceList): PodTemplate {
  return requests === template.requests ? template : { ...template, requests };
}
