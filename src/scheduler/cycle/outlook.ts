import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Pace } from '../../base/pace.ts';
import type { Steps } from '../../base/steps.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Candidate } from '../../framework/candidate.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import type { TrialOptions } from '../../framework/trial.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { Trial, Trials } from '../placement/planning/trials.ts';
import { workPerMember } from '../../framework/work-per-member.ts';

/** What a gang that does not fit has before it. */
type Prospect = Extract<WaitsFor, 'capacity' | 'never' | 'unknown'>;

/** what makes members alike -> those that are */
type Kinds = ReadonlyMap<string, readonly Pod[]>;

/**
 * Counted steps that one answer may take, each a look at a node, in the order of half a microsecond. Beyond them it stays
 * unknown.
 */
const workLimit = 100_000;
const stepsPerNode = 4;
const stepsPerPod = 0.5;
/** Steps that all answers together may take in the long run, in a millisecond: some twentieth of the time. */
const stepsPerMs = 100;
const decidingVolumes = ['PersistentVolume', 'PersistentVolumeClaim', 'StorageClass', 'CSINode'] as const;
/** Answers kept; one is small, and few gangs differ in shape. */
const answerLimit = 1_000;

/** An answer would take more work than it is worth. */
class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError';
}

/**
 * Tells a gang that only waits for others to go from one that would not fit on the nodes even if it had them to itself, by
 * trials. It says `never` only where no other way of placing the members could have done better. Gangs that ask for the same share the
 * answer, until the nodes change; what would cost too much, by itself or with what others have cost lately, stays unknown.
 */
export class Outlook {
  readonly #cluster: Cluster;
  readonly #trials: Trials;
  readonly #clock: Clock;
  /** profile and what is asked for -> answer, on the nodes as of `#revision` */
  readonly #answers = new Map<string, Prospect>();
  /** gang -> what was found out about it last */
  readonly #latest = new WeakMap<GangView, Prospect>();
  #revision = -1;
  /** Steps that may be taken now; they come back with time. */
  #steps = 2 * workLimit;
  #countedAt = 0;

  constructor(options: { readonly cluster: Cluster; readonly trials: Trials; readonly clock: Clock }) {
    this.#cluster = options.cluster;
    this.#trials = options.trials;
    this.#clock = options.clock;
  }

  /** For a gang that was just refused, as `diagnosis` says, and whose refusal proves nothing by itself. */
  *of(profile: Profile, candidate: Candidate, demand: Demand, diagnosis: Diagnosis, pace: Pace): Steps<Prospect> {
    const { refusal } = diagnosis;
    if (refusal.kind === 'pod') {
      if (refusal.status.plugin !== profile.gangPolicy) return 'unknown';
      // What a group asks for as a whole, for instance.
      if (refusal.status.code === 'UnschedulableAndUnresolvable') return 'never';
    }
    const kinds = yield* this.#kinds(profile, demand, pace);
    // Pods that nothing is known to be alike to are looked at one by one, for too long.
    if (kinds === undefined) return 'unknown';
    const key =
      profile.judgesUnsigned || demand.gang?.counted !== 0
        ? undefined
        : `${keyOf(profile, demand, kinds)}${this.#volumesOf(kinds)}`;
    const known = key === undefined ? undefined : this.#known(key);
    if (known !== undefined) return known;
    const prospect = yield* this.#find(profile, candidate, demand, kinds, pace);
    const { gang } = demand;
    // Without time for a new answer the last one stands, so that the verdict does not come and go.
    if (prospect === undefined) return (gang && this.#latest.get(gang)) ?? 'unknown';
    if (key !== undefined) this.#keep(key, prospect);
    if (gang !== undefined) this.#latest.set(gang, prospect);
    return prospect;
  }

  /** The state of what decides where volumes can be had; empty for members without any. */
  #volumesOf(kinds: Kinds): string {
    const { listed } = this.#cluster;
    const haveNone = [...kinds.values()].every(([pod]) => pod!.volumes === noVolumes);
    return haveNone ? '' : decidingVolumes.map((kind) => listed.revision(kind)).join(' ');
  }

  #known(key: string): Prospect | undefined {
    if (this.#revision !== this.#cluster.nodesRevision) {
      this.#revision = this.#cluster.nodesRevision;
      this.#answers.clear();
    }
    return this.#answers.get(key);
  }

  #keep(key: string, prospect: Prospect): void {
    if (this.#answers.size >= answerLimit) this.#answers.clear();
    this.#answers.set(key, prospect);
  }

  /** Undefined when there is no time for it now. */
  *#find(
    profile: Profile,
    candidate: Candidate,
    demand: Demand,
    kinds: Kinds,
    pace: Pace,
  ): Steps<Prospect | undefined> {
    const now = this.#clock.monotonic();
    this.#steps = Math.min(2 * workLimit, this.#steps + (now - this.#countedAt) * stepsPerMs);
    this.#countedAt = now;
    if (this.#steps < workLimit) return undefined;
    let left = workLimit;
    const spend = (steps: number): void => {
      left -= steps;
      if (left < 0) throw new WorkLimitError();
    };
    try {
      return yield* this.#try(profile, candidate, demand, kinds, pace, spend);
    } catch (error) {
      if (error instanceof WorkLimitError) return 'unknown';
      throw error;
    } finally {
      this.#steps -= workLimit - Math.max(0, left);
    }
  }

  *#try(
    profile: Profile,
    candidate: Candidate,
    { members, needed }: Demand,
    kinds: Kinds,
    pace: Pace,
    spend: (steps: number) => void,
  ): Steps<Prospect> {
    const { nodes, podCount } = this.#cluster;
    const takingOut = nodes.length * stepsPerNode + podCount * stepsPerPod;
    const trials = this.#trials;
    function* run(options: TrialOptions): Steps<Trial> {
      spend(takingOut);
      if (pace.lacks(takingOut)) yield;
      pace.spend(takingOut);
      return yield* trials.steps(profile, candidate, { ...options, without: 'others' }, pace, spend);
    }
    const together = yield* run({});
    if (together.fits) return 'capacity';
    if (provesNever(profile, together)) return 'never';
    // Where all are needed each kind has to fit alone.
    if (needed < members.length || kinds.size === 1) return 'unknown';
    for (const alike of kinds.values()) {
      const alone = yield* run({ members: alike, need: alike.length });
      if (!alone.fits && provesNever(profile, alone)) return 'never';
    }
    return 'unknown';
  }

  /** Ordered by kind; undefined when some members are like nobody. */
  *#kinds(profile: Profile, { members, signed }: Demand, pace: Pace): Steps<Kinds | undefined> {
    const signatures = yield* signed.of(profile, pace);
    const kinds = new Map<string, Pod[]>();
    for (const [i, pod] of members.entries()) {
      if (signatures[i] !== signatures[i - 1]) {
        pace.spend(workPerMember);
        if (pace.isDue) yield;
      }
      const { whole: kind } = signatures[i]!;
      if (kind === undefined) return undefined;
      const alike = kinds.get(kind);
      if (alike === undefined) kinds.set(kind, [pod]);
      else alike.push(pod);
    }
    return new Map([...kinds].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function keyOf(profile: Profile, { needed, gang }: Demand, kinds: Kinds): string {
  const counts = [...kinds].map(([kind, pods]) => [kind, pods.length]);
  return JSON.stringify([profile.schedulerName, needed, gang?.spec?.minResources, counts]);
}

/** Other pods may be the reason: no plugin has refused a member for a reason of its own. */
function isAboutRoom(profile: Profile, { refusal }: Diagnosis): boolean {
  return refusal.kind === 'nodes' || refusal.status.plugin === profile.gangPolicy;
}

function provesNever(profile: Profile, { isExhaustive, blocked }: Trial): boolean {
  return isExhaustive && blocked !== undefined && isAboutRoom(profile, blocked);
}
