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
  /** The group gives its nodes back: nothing is kept for it. */
  readonly isHeld: (groupKey: string) => boolean;
  readonly events: EventSink;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/** Room that is kept for whoever comes in the place of a lost member. */
interface ReservedCapacity {
  /** Of the group for which it is kept. */
  readonly groupUid: string;
  /** The lost member. */
  readonly lost: Pod;
  /** The claim's: that of no pod, because nobody knows yet what the one will be called that comes. */
  readonly owner: Pod;
  /** Clock.monotonic() */
  readonly until: number;
}

/** As many rooms of one group are looked for on other nodes, each by a trial. */
const mostElsewhere = 16;
/** A group that loses one member after the other is told so often. */
const reportEveryMs = 10_000;

/**
 * What follows when members leave their nodes before they have finished, and the group is short of its quorum: the node did not admit
 * them or died, somebody deleted or evicted them. Their owner makes others; for each, room is kept for the group's grace: that of the lost one, or as
 * much on another node where that one is no use and a trial finds any. Who comes may use it whatever it is called; it ends as soon as the
 * group is whole, ends or is released.
 */
export class MemberLosses {
  readonly #options: MemberLossesOptions;
  /** group key -> what is kept for it, oldest first */
  readonly #kept = new Map<string, ReservedCapacity[]>();
  /** group key -> Clock.monotonic() when it was last told that it lost a member */
  readonly #reportedAt = new Map<string, number>();
  /** group key -> uids of its members of which it was told that they are stranded */
  readonly #stranded = new Map<string, ReadonlySet<string>>();

  constructor(options: MemberLossesOptions) {
    this.#options = options;
  }

  /** The pod is on its node no longer and has not succeeded: the API shows it gone or failed, and the picture knows. */
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
    const kept = this.#standing(gang.key).length < needed ? this.#keep(gang, pod, nodeName) : undefined;
    this.#notify(gang, pod, nodeName, isRejected, kept);
  }

  /** The group or a member of it has changed. */
  look(key: string): void {
    const gang = this.#options.cluster.gang(key);
    if (this.#kept.has(key)) this.#endWhatIsNotNeeded(key, gang);
    this.#reportStranded(key, gang);
    if (gang === undefined) this.#reportedAt.delete(key);
  }

  /** The node has changed in what scheduling reads of it, or has gone. */
  nodeChanged(nodeName: string): void {
    if (this.#kept.size === 0) return;
    const { cluster, reservations } = this.#options;
    for (const key of [...this.#kept.keys()]) {
      for (const { owner, lost } of this.#standing(key)) {
        const reservation = cluster.reservationOf(owner.uid)!;
        if (reservation.nodeName !== nodeName || this.#isUsable(nodeName, lost)) continue;
        reservations.end(reservation);
        const gang = cluster.gang(key);
        if (gang?.spec !== undefined) this.#keepElsewhere(gang, lost, owner);
      }
    }
  }

  /** Answers the node on which room is kept now; undefined: none is. */
  #keep(gang: Gang, lost: Pod, nodeName: string): string | undefined {
    // The room of the victims of a preemption is somebody else's.
    if (lost.disruptedBy === 'PreemptionByScheduler') return undefined;
    const { uid, repairGraceMs } = gang.spec!;
    if (repairGraceMs === 0) return undefined;
    const owner: Pod = { ...lost, uid: `instead-of/${lost.uid}`, nodeName: '', phase: 'Pending', deleting: false };
    const until = this.#options.clock.monotonic() + repairGraceMs;
    const capacities = this.#kept.get(gang.key) ?? [];
    this.#kept.set(gang.key, capacities);
    capacities.push({ groupUid: uid, lost, owner, until });
    if (!this.#isUsable(nodeName, lost)) return this.#keepElsewhere(gang, lost, owner);
    this.#reservation(owner, nodeName, until);
    return nodeName;
  }

  /** By a trial in which they have come; together with those for which room is kept elsewhere already, so that all of it fits. */
  #keepElsewhere(gang: Gang, { template }: Pod, owner: Pod): string | undefined {
    const { cluster, dryRuns, profiles, clock, logger } = this.#options;
    const capacities = (this.#kept.get(gang.key) ?? []).filter(
      (capacity) => capacity.owner === owner || cluster.reservationOf(capacity.owner.uid) !== undefined,
    );
    const own = capacities.find((capacity) => capacity.owner === owner);
    if (
      own === undefined ||
      own.until <= clock.monotonic() ||
      capacities.length > mostElsewhere ||
      cluster.isPlanning
    ) {
      return undefined;
    }
    /** uid of one that comes in the trial -> the room that is looked for */
    const coming = new Map(capacities.map((capacity) => [`trial/${capacity.owner.uid}`, capacity]));
    // Enough for the group to be ready; only those that rooms are looked for are placed.
    const others = Math.max(0, gang.missing - gang.pending.size - coming.size);
    const arrivals = [...coming].map(([uid, capacity]) => ({ ...capacity.owner, uid, nominatedNodeName: '' }));
    const fillers = Array.from({ length: others }, (_, i) => ({ ...arrivals[0]!, uid: `trial/filler-${i}` }));
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
        const capacity = coming.get(pod.uid)!;
        this.#reservation(capacity.owner, nodeName, capacity.until);
      }
      return cluster.reservationOf(owner.uid)?.nodeName;
    } catch (error) {
      logger.warn('could not look for room for a lost member', { podGroup: gang.key, error });
      return undefined;
    }
  }

  #reservation(owner: Pod, nodeName: string, until: number): void {
    const { reservations, clock } = this.#options;
    reservations.keep([{ kind: 'repair', owner, nodeName }], until - clock.monotonic());
  }

  /** The room that was taken from the lost one is room for another. */
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

  /** What is kept for the group now; forgets what has come to its end. */
  #standing(key: string): readonly ReservedCapacity[] {
    const capacities = this.#kept.get(key);
    if (capacities === undefined) return [];
    const { cluster } = this.#options;
    const standing = capacities.filter(({ owner }) => cluster.reservationOf(owner.uid) !== undefined);
    if (standing.length === 0) this.#kept.delete(key);
    else this.#kept.set(key, standing);
    return standing;
  }

  #endWhatIsNotNeeded(key: string, gang: Gang | undefined): void {
    const standing = this.#standing(key);
    const isHeld = this.#options.isHeld(key);
    const [ours, strange] = partition(standing, ({ groupUid }) => gang?.spec?.uid === groupUid && !isHeld);
    const needed = gang === undefined ? 0 : neededBy(gang);
    for (const capacity of strange) this.#end(capacity);
    let surplus = ours.length - needed;
    if (surplus <= 0) return;
    // First those where somebody has come.
    const [used, unused] = partition(ours, (capacity) => this.#isUsed(capacity));
    for (const capacity of [...used, ...unused]) if (surplus-- > 0) this.#end(capacity);
    this.#standing(key);
  }

  /** One like the lost member is on the node, and has come after it. */
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

  #notify(gang: Gang, pod: Pod, nodeName: string, isRejected: boolean, kept: string | undefined): void {
    const { clock, events, logger } = this.#options;
    const now = clock.monotonic();
    if (now - (this.#reportedAt.get(gang.key) ?? -Infinity) < reportEveryMs) return;
    this.#reportedAt.set(gang.key, now);
    const seconds = gang.spec!.repairGraceMs / 1000;
    const what = isRejected
      ? `was not admitted by node ${nodeName} (${pod.failedBecause})`
      : pod.phase === 'Failed'
        ? `has failed on node ${nodeName}`
        : `is gone from node ${nodeName}`;
    const capacity =
      kept === undefined
        ? ''
        : `; ${kept === nodeName ? 'its room there' : `room on node ${kept}`} is kept for the one that comes instead, for ${seconds} s at most`;
    const note = `member ${pod.name} ${what}, and ${gang.missing} of the ${gang.spec!.minMember} that are needed ${gang.missing === 1 ? 'is' : 'are'} missing${capacity}`;
    logger.warn('a member of a group is lost', { podGroup: gang.key, pod: pod.name, node: nodeName, keptOn: kept });
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
    logger.warn('members of a group are on nodes that are lost', { podGroup: key, members: ours.length });
    const event = membersStranded(gang, ours);
    if (event !== undefined) events.record(event);
  }
}

/** How many members it is short of that its owner has to bring; 0 when nobody of it is left, or it has finished. */
function neededBy(gang: Gang): number {
  const { spec, started } = gang;
  const bound = gang.count('bound');
  if (spec === undefined || bound + gang.count('planned') === 0) return 0;
  const counted = bound + (started ? gang.count('succeeded') + gang.count('stranded') : 0);
  return Math.max(0, spec.minMember - counted);
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
