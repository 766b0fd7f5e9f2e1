import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import type { DryRunOptions } from '../../framework/dry-run.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRun, DryRuns } from '../placement/planning/dry-runs.ts';
import { workPerMember } from '../../framework/work-per-member.ts';

/** What a gang that does not fit has before it. */
type GangFeasibility = Extract<WaitsFor, 'capacity' | 'never' | 'unknown'>;

/** what makes members alike -> those that are */
type PodClasses = ReadonlyMap<string, readonly Pod[]>;

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
export class FeasibilityCheck {
  readonly #cluster: Cluster;
  readonly #dryRuns: DryRuns;
  readonly #clock: Clock;
  /** profile and what is asked for -> answer, on the nodes as of `#revision` */
  readonly #answers = new Map<string, GangFeasibility>();
  /** gang -> what was found out about it last */
  readonly #latest = new WeakMap<GangView, GangFeasibility>();
  #revision = -1;
  /** Steps that may be taken now; they come back with time. */
  #steps = 2 * workLimit;
  #countedAt = 0;

  constructor(options: { readonly cluster: Cluster; readonly dryRuns: DryRuns; readonly clock: Clock }) {
    this.#cluster = options.cluster;
    this.#dryRuns = options.dryRuns;
    this.#clock = options.clock;
  }

  /** For a gang that was just rejected, as `diagnosis` says, and whose rejection proves nothing by itself. */
  *of(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    diagnosis: Diagnosis,
    budget: WorkBudget,
  ): Yielding<GangFeasibility> {
    const { rejection } = diagnosis;
    if (rejection.kind === 'pod') {
      if (rejection.status.plugin !== profile.gangPolicy) return 'unknown';
      // What a group asks for as a whole, for instance.
      if (rejection.status.code === 'UnschedulableAndUnresolvable') return 'never';
    }
    const podClasses = yield* this.#podClasses(profile, demand, budget);
    // Pods that nothing is known to be alike to are looked at one by one, for too long.
    if (podClasses === undefined) return 'unknown';
    const key =
      profile.judgesUnsigned || demand.gang?.counted !== 0
        ? undefined
        : `${keyOf(profile, demand, podClasses)}${this.#volumesOf(podClasses)}`;
    const known = key === undefined ? undefined : this.#known(key);
    if (known !== undefined) return known;
    const feasibility = yield* this.#find(profile, schedulingEntity, demand, podClasses, budget);
    const { gang } = demand;
    // Without time for a new answer the last one stands, so that the verdict does not come and go.
    if (feasibility === undefined) return (gang && this.#latest.get(gang)) ?? 'unknown';
    if (key !== undefined) this.#keep(key, feasibility);
    if (gang !== undefined) this.#latest.set(gang, feasibility);
    return feasibility;
  }

  /** The state of what decides where volumes can be had; empty for members without any. */
  #volumesOf(podClasses: PodClasses): string {
    const { listed } = this.#cluster;
    const haveNone = [...podClasses.values()].every(([pod]) => pod!.volumes === noVolumes);
    return haveNone ? '' : decidingVolumes.map((kind) => listed.revision(kind)).join(' ');
  }

  #known(key: string): GangFeasibility | undefined {
    if (this.#revision !== this.#cluster.nodesRevision) {
      this.#revision = this.#cluster.nodesRevision;
      this.#answers.clear();
    }
    return this.#answers.get(key);
  }

  #keep(key: string, feasibility: GangFeasibility): void {
    if (this.#answers.size >= answerLimit) this.#answers.clear();
    this.#answers.set(key, feasibility);
  }

  /** Undefined when there is no time for it now. */
  *#find(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    podClasses: PodClasses,
    budget: WorkBudget,
  ): Yielding<GangFeasibility | undefined> {
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
      return yield* this.#try(profile, schedulingEntity, demand, podClasses, budget, spend);
    } catch (error) {
      if (error instanceof WorkLimitError) return 'unknown';
      throw error;
    } finally {
      this.#steps -= workLimit - Math.max(0, left);
    }
  }

  *#try(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    { members, needed }: Demand,
    podClasses: PodClasses,
    budget: WorkBudget,
    spend: (steps: number) => void,
  ): Yielding<GangFeasibility> {
    const { nodes, podCount } = this.#cluster;
    const takingOut = nodes.length * stepsPerNode + podCount * stepsPerPod;
    const dryRuns = this.#dryRuns;
    function* run(options: DryRunOptions): Yielding<DryRun> {
      spend(takingOut);
      if (budget.lacks(takingOut)) yield;
      budget.spend(takingOut);
      return yield* dryRuns.steps(profile, schedulingEntity, { ...options, without: 'others' }, budget, spend);
    }
    const together = yield* run({});
    if (together.fits) return 'capacity';
    if (provesNever(profile, together)) return 'never';
    // Where all are needed each kind has to fit alone.
    if (needed < members.length || podClasses.size === 1) return 'unknown';
    for (const alike of podClasses.values()) {
      const alone = yield* run({ members: alike, need: alike.length });
      if (!alone.fits && provesNever(profile, alone)) return 'never';
    }
    return 'unknown';
  }

  /** Ordered by kind; undefined when some members are like nobody. */
  *#podClasses(profile: Profile, { members, signed }: Demand, budget: WorkBudget): Yielding<PodClasses | undefined> {
    const signatures = yield* signed.of(profile, budget);
    const podClasses = new Map<string, Pod[]>();
    for (const [i, pod] of members.entries()) {
      if (signatures[i] !== signatures[i - 1]) {
        budget.spend(workPerMember);
        if (budget.isDue) yield;
      }
      const { whole: kind } = signatures[i]!;
      if (kind === undefined) return undefined;
      const alike = podClasses.get(kind);
      if (alike === undefined) podClasses.set(kind, [pod]);
      else alike.push(pod);
    }
    return new Map([...podClasses].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function keyOf(profile: Profile, { needed, gang }: Demand, podClasses: PodClasses): string {
  const counts = [...podClasses].map(([kind, pods]) => [kind, pods.length]);
  return JSON.stringify([profile.schedulerName, needed, gang?.spec?.minResources, counts]);
}

/** Other pods may be the reason: no plugin has rejected a member for a reason of its own. */
function isAboutCapacity(profile: Profile, { rejection }: Diagnosis): boolean {
  return rejection.kind === 'nodes' || rejection.status.plugin === profile.gangPolicy;
}

function provesNever(profile: Profile, { isExhaustive, blocked }: DryRun): boolean {
  return isExhaustive && blocked !== undefined && isAboutCapacity(profile, blocked);
}
