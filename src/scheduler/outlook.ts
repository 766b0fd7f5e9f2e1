import type { WaitsFor } from '../api/verdict.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Candidate } from '../framework/candidate.ts';
import type { Profile } from '../framework/profile.ts';
import type { Demand } from './placement/demand.ts';
import type { Planner } from './placement/planner.ts';
import type { Trials } from './placement/trials.ts';

/** What a gang that does not fit has before it. */
type Prospect = Extract<WaitsFor, 'capacity' | 'never' | 'unknown'>;

/**
 * Counted steps that finding it out may take, about a quarter of a microsecond each: a look at a node for one kind of
 * member is one, and so is taking a pod off its node.
 */
const workLimit = 100_000;
const stepsPerNode = 4;
const stepsPerMember = 40;
/** Answers kept; one is small, and few gangs differ in shape. */
const answerLimit = 1_000;

/**
 * Tells a gang that only waits for others to go from one that would not fit on the nodes even if it had them to itself, by a
 * trial. Gangs that ask for the same share the answer, until the nodes change; one that would cost too much stays unknown.
 */
export class Outlook {
  readonly #cluster: Cluster;
  readonly #planner: Planner;
  readonly #trials: Trials;
  /** profile and what is asked for -> answer, on the nodes as of `#revision` */
  readonly #answers = new Map<string, Prospect>();
  #revision = -1;

  constructor(options: { readonly cluster: Cluster; readonly planner: Planner; readonly trials: Trials }) {
    this.#cluster = options.cluster;
    this.#planner = options.planner;
    this.#trials = options.trials;
  }

  /** For a gang that was just refused, and whose refusal proves nothing by itself. */
  of(profile: Profile, candidate: Candidate, demand: Demand): Prospect {
    const kinds = this.#kinds(profile, demand);
    // Pods that nothing is known to be alike to are looked at one by one, for too long.
    if (kinds === undefined || this.#stepsFor(demand, kinds.size) > workLimit) return 'unknown';
    if (demand.gang?.counted !== 0) return this.#try(profile, candidate, demand);
    const key = JSON.stringify([profile.schedulerName, demand.needed, demand.gang.spec?.minResources, ...kinds]);
    const known = this.#known(key);
    if (known !== undefined) return known;
    const prospect = this.#try(profile, candidate, demand);
    if (this.#answers.size >= answerLimit) this.#answers.clear();
    this.#answers.set(key, prospect);
    return prospect;
  }

  #known(key: string): Prospect | undefined {
    if (this.#revision !== this.#cluster.nodesRevision) {
      this.#revision = this.#cluster.nodesRevision;
      this.#answers.clear();
    }
    return this.#answers.get(key);
  }

  #try(profile: Profile, candidate: Candidate, { gang }: Demand): Prospect {
    const others = [...this.#cluster.pods()].filter((pod) => gang?.members.has(pod.uid) !== true);
    return this.#trials.run(profile, candidate, { without: others }).fits ? 'capacity' : 'never';
  }

  /** what makes members alike -> how many they are, ordered; undefined when some are like nobody */
  #kinds(profile: Profile, { members }: Demand): ReadonlyMap<string, number> | undefined {
    const counts = new Map<string, number>();
    for (const pod of members) {
      const { local, others } = this.#planner.signaturesOf(profile, pod);
      if (local === undefined || others === undefined) return undefined;
      const kind = `${others}${local}`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #stepsFor({ members }: Demand, kinds: number): number {
    const { nodes, podCount } = this.#cluster;
    return nodes.length * (kinds + stepsPerNode) + podCount + members.length * stepsPerMember;
  }
}
