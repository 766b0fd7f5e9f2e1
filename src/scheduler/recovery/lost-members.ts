import { isAdmissionRefusal } from '../../api/admission-refusal.ts';
import { isBoundForAnother } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { isTolerated } from '../../api/tolerations.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import { isLostTo } from '../../cluster/lost-node.ts';
import type { Logger } from '../../observability/logger.ts';
import { memberLost, membersStranded } from '../verdicts/events.ts';
import type { KeptClaims } from '../preemption/kept-claims.ts';
import type { NodeRefusals } from './node-refusals.ts';
import type { Trials } from '../placement/planning/trials.ts';
import type { EventSink } from '../ports.ts';
import type { Profiles } from '../profiles.ts';

export interface LostMembersOptions {
  readonly cluster: Cluster;
  readonly claims: Pick<KeptClaims, 'keep' | 'end'>;
  readonly trials: Trials;
  readonly refusals: Pick<NodeRefusals, 'notAdmitted' | 'barredFor'>;
  readonly profiles: Pick<Profiles, 'of' | 'decidesGangs' | 'isOurs'>;
  /** The group gives its nodes back: nothing is kept for it. */
  readonly isHeld: (groupKey: string) => boolean;
  readonly events: EventSink;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/** Room that is kept for whoever comes in the place of a lost member. */
interface KeptRoom {
  /** Of the group for which it is kept. */
  readonly groupUid: string;
  /** The lost member. */
  readonly lost: Pod;
  /** The claim's: that of no pod, because nobody knows yet what the one will be called that comes. */
  readonly claimant: Pod;
  /** Clock.monotonic() */
  readonly until: number;
}

/** As many rooms of one group are looked for on other nodes, each by a trial. */
const mostElsewhere = 16;
/** A group that loses one member after the other is told so often. */
const toldEveryMs = 10_000;

/**
 * What follows when members leave their nodes before they have finished, and the group is short of its quorum: the node did not admit
 * them or died, somebody deleted or evicted them. Their owner makes others; for each, room is kept for the group's grace: that of the lost one, or as
 * much on another node where that one is no use and a trial finds any. Who comes may use it whatever it is called; it ends as soon as the
 * group is whole, ends or is released.
 */
export class LostMembers {
  readonly #options: LostMembersOptions;
  /** group key -> what is kept for it, oldest first */
  readonly #kept = new Map<string, KeptRoom[]>();
  /** group key -> Clock.monotonic() when it was last told that it lost a member */
  readonly #toldAt = new Map<string, number>();
  /** group key -> uids of its members of which it was told that they are stranded */
  readonly #stranded = new Map<string, ReadonlySet<string>>();

  constructor(options: LostMembersOptions) {
    this.#options = options;
  }

  /** The pod is on its node no longer and has not succeeded: the API shows it gone or failed, and the picture knows. */
  lost(pod: Pod, nodeName: string): void {
    const { cluster, profiles, refusals, logger } = this.#options;
    const isRefused = pod.phase === 'Failed' && isAdmissionRefusal(pod.failedBecause);
    if (isRefused && profiles.isOurs(pod.schedulerName)) {
      logger.warn('a node did not admit a pod', { pod: pod.key, node: nodeName, reason: pod.failedBecause });
      refusals.notAdmitted(pod, nodeName);
    }
    const gang = pod.podGroupKey === undefined ? undefined : cluster.gang(pod.podGroupKey);
    if (gang?.spec === undefined || !profiles.decidesGangs(pod.schedulerName)) return;
    if (isBoundForAnother(pod, gang.spec.uid) || this.#options.isHeld(gang.key)) return;
    const needed = neededBy(gang);
    if (needed === 0) return;
    const kept = this.#standing(gang.key).length < needed ? this.#keep(gang, pod, nodeName) : undefined;
    this.#tell(gang, pod, nodeName, isRefused, kept);
  }

  /** The group or a member of it has changed. */
  look(key: string): void {
    const gang = this.#options.cluster.gang(key);
    if (this.#kept.has(key)) this.#endWhatIsNotNeeded(key, gang);
    this.#tellStranded(key, gang);
    if (gang === undefined) this.#toldAt.delete(key);
  }

  /** The node has changed in what scheduling reads of it, or has gone. */
  nodeChanged(nodeName: string): void {
    if (this.#kept.size === 0) return;
    const { cluster, claims } = this.#options;
    for (const key of [...this.#kept.keys()]) {
      for (const { claimant, lost } of this.#standing(key)) {
        const claim = cluster.claimOf(claimant.uid)!;
        if (claim.nodeName !== nodeName || this.#isUsable(nodeName, lost)) continue;
        claims.end(claim);
        const gang = cluster.gang(key);
        if (gang?.spec !== undefined) this.#keepElsewhere(gang, lost, claimant);
      }
    }
  }

  /** Answers the node on which room is kept now; undefined: none is. */
  #keep(gang: Gang, lost: Pod, nodeName: string): string | undefined {
    // The room of the victims of a preemption is somebody else's.
    if (lost.disruptedBy === 'PreemptionByScheduler') return undefined;
    const { uid, repairGraceMs } = gang.spec!;
    if (repairGraceMs === 0) return undefined;
    const claimant: Pod = { ...lost, uid: `instead-of/${lost.uid}`, nodeName: '', phase: 'Pending', deleting: false };
    const until = this.#options.clock.monotonic() + repairGraceMs;
    const rooms = this.#kept.get(gang.key) ?? [];
    this.#kept.set(gang.key, rooms);
    rooms.push({ groupUid: uid, lost, claimant, until });
    if (!this.#isUsable(nodeName, lost)) return this.#keepElsewhere(gang, lost, claimant);
    this.#claim(claimant, nodeName, until);
    return nodeName;
  }

  /** By a trial in which they have come; together with those for which room is kept elsewhere already, so that all of it fits. */
  #keepElsewhere(gang: Gang, { template }: Pod, claimant: Pod): string | undefined {
    const { cluster, trials, profiles, clock, logger } = this.#options;
    const rooms = (this.#kept.get(gang.key) ?? []).filter(
      (room) => room.claimant === claimant || cluster.claimOf(room.claimant.uid) !== undefined,
    );
    const own = rooms.find((room) => room.claimant === claimant);
    if (own === undefined || own.until <= clock.monotonic() || rooms.length > mostElsewhere || cluster.isPlanning) {
      return undefined;
    }
    /** uid of one that comes in the trial -> the room that is looked for */
    const coming = new Map(rooms.map((room) => [`trial/${room.claimant.uid}`, room]));
    // Enough for the group to be ready; only those that rooms are looked for are placed.
    const others = Math.max(0, gang.missing - gang.pending.size - coming.size);
    const arrivals = [...coming].map(([uid, room]) => ({ ...room.claimant, uid, nominatedNodeName: '' }));
    const fillers = Array.from({ length: others }, (_, i) => ({ ...arrivals[0]!, uid: `trial/filler-${i}` }));
    const barred = this.#options.refusals.barredFor({ ...claimant, template });
    const within =
      barred.size === 0
        ? undefined
        : new Set(cluster.nodes.map(({ name }) => name).filter((name) => !barred.has(name)));
    const candidate = { kind: 'gang', gang } as const;
    try {
      const { fits, plan } = trials.run(profiles.of({ kind: 'pod', pod: claimant }), candidate, {
        arrivals: [...arrivals, ...fillers],
        members: arrivals,
        need: arrivals.length,
        ...(within !== undefined && { within }),
      });
      if (!fits) return undefined;
      for (const { pod, nodeName } of plan) {
        const room = coming.get(pod.uid)!;
        this.#claim(room.claimant, nodeName, room.until);
      }
      return cluster.claimOf(claimant.uid)?.nodeName;
    } catch (error) {
      logger.warn('could not look for room for a lost member', { podGroup: gang.key, error });
      return undefined;
    }
  }

  #claim(claimant: Pod, nodeName: string, until: number): void {
    const { claims, clock } = this.#options;
    claims.keep([{ kind: 'repair', claimant, nodeName }], until - clock.monotonic());
  }

  /** The room that was taken from the lost one is room for another. */
  #isUsable(nodeName: string, lost: Pod): boolean {
    const { cluster, refusals } = this.#options;
    const info = cluster.node(nodeName);
    if (info === undefined || isLostTo(lost, info.node) || refusals.barredFor(lost).has(nodeName)) return false;
    const { node } = info;
    if (node.unschedulable) return false;
    return node.taints.every(
      (taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, lost.template.tolerations),
    );
  }

  /** What is kept for the group now; forgets what has come to its end. */
  #standing(key: string): readonly KeptRoom[] {
    const rooms = this.#kept.get(key);
    if (rooms === undefined) return [];
    const { cluster } = this.#options;
    const standing = rooms.filter(({ claimant }) => cluster.claimOf(claimant.uid) !== undefined);
    if (standing.length === 0) this.#kept.delete(key);
    else this.#kept.set(key, standing);
    return standing;
  }

  #endWhatIsNotNeeded(key: string, gang: Gang | undefined): void {
    const standing = this.#standing(key);
    const isHeld = this.#options.isHeld(key);
    const [ours, strange] = partition(standing, ({ groupUid }) => gang?.spec?.uid === groupUid && !isHeld);
    const needed = gang === undefined ? 0 : neededBy(gang);
    for (const room of strange) this.#end(room);
    let surplus = ours.length - needed;
    if (surplus <= 0) return;
    // First those where somebody has come.
    const [used, unused] = partition(ours, (room) => this.#isUsed(room));
    for (const room of [...used, ...unused]) if (surplus-- > 0) this.#end(room);
    this.#standing(key);
  }

  /** One like the lost member is on the node, and has come after it. */
  #isUsed({ lost, claimant }: KeptRoom): boolean {
    const { cluster } = this.#options;
    const node = cluster.node(cluster.claimOf(claimant.uid)?.nodeName ?? '');
    for (const pod of node?.pods.values() ?? []) {
      if (pod.podGroupKey !== lost.podGroupKey || pod.template !== lost.template) continue;
      if (pod.uid !== lost.uid && pod.creationTimestamp >= lost.creationTimestamp) return true;
    }
    return false;
  }

  #end({ claimant }: KeptRoom): void {
    const claim = this.#options.cluster.claimOf(claimant.uid);
    if (claim !== undefined) this.#options.claims.end(claim);
  }

  #tell(gang: Gang, pod: Pod, nodeName: string, isRefused: boolean, kept: string | undefined): void {
    const { clock, events, logger } = this.#options;
    const now = clock.monotonic();
    if (now - (this.#toldAt.get(gang.key) ?? -Infinity) < toldEveryMs) return;
    this.#toldAt.set(gang.key, now);
    const seconds = gang.spec!.repairGraceMs / 1000;
    const what = isRefused
      ? `was not admitted by node ${nodeName} (${pod.failedBecause})`
      : pod.phase === 'Failed'
        ? `has failed on node ${nodeName}`
        : `is gone from node ${nodeName}`;
    const room =
      kept === undefined
        ? ''
        : `; ${kept === nodeName ? 'its room there' : `room on node ${kept}`} is kept for the one that comes instead, for ${seconds} s at most`;
    const note = `member ${pod.name} ${what}, and ${gang.missing} of the ${gang.spec!.minMember} that are needed ${gang.missing === 1 ? 'is' : 'are'} missing${room}`;
    logger.warn('a member of a group is lost', { podGroup: gang.key, pod: pod.name, node: nodeName, keptOn: kept });
    const event = memberLost(gang, pod, note);
    if (event !== undefined) events.record(event);
  }

  #tellStranded(key: string, gang: Gang | undefined): void {
    if (gang === undefined || gang.count('stranded') === 0) {
      this.#stranded.delete(key);
      return;
    }
    const told = this.#stranded.get(key);
    const stranded = [...gang.members.values()].filter(({ uid }) => gang.stateOf(uid) === 'stranded');
    this.#stranded.set(key, new Set(stranded.map(({ uid }) => uid)));
    if (stranded.every(({ uid }) => told?.has(uid) === true)) return;
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
