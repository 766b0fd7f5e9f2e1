import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import type { DryRunOptions } from '../../framework/dry-run.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRun, DryRuns } from '../placement/planning/dry-runs.ts';
import { workPerMember } from '../../framework/work-per-member.ts';

/** What a rejected gang can wait for. */
type GangFeasibility = Extract<WaitsFor, 'capacity' | 'never' | 'unknown'>;

/** signature -> members with this signature */
type PodClasses = ReadonlyMap<string, readonly Pod[]>;

/**
 * Maximum number of steps for one result, over several turns: enough for ten pod classes on 50,000 nodes. A step is one node check, in the
 * order of half a microsecond. Beyond the limit the result is `unknown`.
 */
const workLimit = 1_000_000;
/** Steps per millisecond for all checks together in the long run: about a twentieth of the time. */
const stepsPerMs = 100;
/** A check may begin while recent checks are this many steps ahead of that rate. */
const maxAhead = 200_000;
const decidingVolumes = ['PersistentVolume', 'PersistentVolumeClaim', 'StorageClass', 'CSINode'] as const;
/** Maximum number of cached results; one is small, and few gangs differ in shape. */
const maxResults = 1_000;

/** The check would take more work than its result is worth. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError';
}

/**
 * Distinguishes gangs that only wait for other pods to go from gangs that would not fit on the nodes even without other pods.
 * Uses dry runs. Reports `never` only if no other way of placing the members could have done better. Gangs with the same demand
 * share the result until the nodes change. A check that costs too much, by itself or together with recent checks, results in
 * `unknown`.
 */
export class FeasibilityCheck {
  readonly #cluster: Cluster;
  readonly #dryRuns: Pick<DryRuns, 'steps'>;
  readonly #clock: Clock;
  /** profile and demand -> result, for the nodes as of `#revision` */
  readonly #results = new Map<string, GangFeasibility>();
  /** gang -> result of the latest check, and the number of nodes then */
  readonly #latest = new WeakMap<GangView, { readonly feasibility: GangFeasibility; readonly nodeCount: number }>();
  #revision = -1;
  /** How many steps recent checks are ahead of `stepsPerMs`. */
  #ahead = 0;
  #countedAt = 0;

  constructor(options: { readonly cluster: Cluster; readonly dryRuns: Pick<DryRuns, 'steps'>; readonly clock: Clock }) {
    this.#cluster = options.cluster;
    this.#dryRuns = options.dryRuns;
    this.#clock = options.clock;
  }

  /** Checks a gang that was just rejected with `diagnosis`, when the rejection by itself proves nothing. */
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
      // For example, because of the total that the gang requests.
      if (rejection.status.code === 'UnschedulableAndUnresolvable') return 'never';
    }
    const podClasses = yield* this.#podClasses(profile, demand, budget);
    // Members without a signature have to be checked one by one, which takes too long.
    if (podClasses === undefined) return 'unknown';
    const key =
      profile.judgesUnsigned || demand.gang?.present !== 0
        ? undefined
        : `${keyOf(profile, demand, podClasses)}${this.#volumesOf(podClasses)}`;
    const cached = key === undefined ? undefined : this.#cached(key);
    if (cached !== undefined) return cached;
    const feasibility = yield* this.#find(profile, schedulingEntity, demand, podClasses, budget);
    const { gang } = demand;
    const { length: nodeCount } = this.#cluster.nodes;
    if (feasibility === undefined) {
      // Without budget for a new check, repeat the latest result, so that the verdict does not flap. New nodes may disprove it.
      const latest = gang && this.#latest.get(gang);
      return latest === undefined || nodeCount > latest.nodeCount ? 'unknown' : latest.feasibility;
    }
    if (key !== undefined) this.#store(key, feasibility);
    if (gang !== undefined) this.#latest.set(gang, { feasibility, nodeCount });
    return feasibility;
  }

  /** Returns the state of the objects that decide where volumes are available; empty if no member has volumes. */
  #volumesOf(podClasses: PodClasses): string {
    const { listed } = this.#cluster;
    const hasNoVolumes = [...podClasses.values()].every(([pod]) => pod!.volumes === noVolumes);
    return hasNoVolumes ? '' : decidingVolumes.map((kind) => listed.revision(kind)).join(' ');
  }

  #cached(key: string): GangFeasibility | undefined {
    if (this.#revision !== this.#cluster.nodesRevision) {
      this.#revision = this.#cluster.nodesRevision;
      this.#results.clear();
    }
    return this.#results.get(key);
  }

  #store(key: string, feasibility: GangFeasibility): void {
    if (this.#results.size >= maxResults) this.#results.clear();
    this.#results.set(key, feasibility);
  }

  /** Returns undefined if the budget does not allow a check now. */
  *#find(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    podClasses: PodClasses,
    budget: WorkBudget,
  ): Yielding<GangFeasibility | undefined> {
    const now = this.#clock.monotonic();
    this.#ahead = Math.max(0, this.#ahead - (now - this.#countedAt) * stepsPerMs);
    this.#countedAt = now;
    if (this.#ahead > maxAhead) return undefined;
    let left = workLimit;
    const spend = (steps: number): void => {
      left -= steps;
      this.#ahead += steps;
      if (left < 0) throw new WorkLimitError();
    };
    try {
      return yield* this.#try(profile, schedulingEntity, demand, podClasses, budget, spend);
    } catch (error) {
      if (error instanceof WorkLimitError) return 'unknown';
      throw error;
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
    const run = (options: DryRunOptions): Yielding<DryRun> =>
      this.#dryRuns.steps(profile, schedulingEntity, { ...options, without: 'others' }, budget, spend);
    const together = yield* run({});
    if (together.fits) return 'capacity';
    if (provesNever(profile, together)) return 'never';
    // If all members are needed, each pod class must also fit alone.
    if (needed < members.length || podClasses.size === 1) return 'unknown';
    for (const identical of podClasses.values()) {
      const alone = yield* run({ members: identical, need: identical.length });
      if (!alone.fits && provesNever(profile, alone)) return 'never';
    }
    return 'unknown';
  }

  /** Returns the pod classes in order of signature; undefined if a member has no signature. */
  *#podClasses(profile: Profile, { members, signed }: Demand, budget: WorkBudget): Yielding<PodClasses | undefined> {
    const signatures = yield* signed.of(profile, budget);
    const podClasses = new Map<string, Pod[]>();
    for (const [i, pod] of members.entries()) {
      if (signatures[i] !== signatures[i - 1]) {
        budget.spend(workPerMember);
        if (budget.isDue) yield;
      }
      const { whole: signature } = signatures[i]!;
      if (signature === undefined) return undefined;
      const identical = podClasses.get(signature);
      if (identical === undefined) podClasses.set(signature, [pod]);
      else identical.push(pod);
    }
    return new Map([...podClasses].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function keyOf(profile: Profile, { needed, gang }: Demand, podClasses: PodClasses): string {
  const counts = [...podClasses].map(([signature, pods]) => [signature, pods.length]);
  return JSON.stringify([profile.schedulerName, needed, gang?.spec?.minResources, counts]);
}

/** Whether other pods may be the reason: no plugin rejected a member for a reason of its own. */
function isAboutCapacity(profile: Profile, { rejection }: Diagnosis): boolean {
  return rejection.kind === 'nodes' || rejection.status.plugin === profile.gangPolicy;
}

function provesNever(profile: Profile, { never, isExhaustive, blocked }: DryRun): boolean {
  return never || (isExhaustive && blocked !== undefined && isAboutCapacity(profile, blocked));
}
