import type { Pod } from '../api/pod.ts';
import type { WaitsFor } from '../api/verdict.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Candidate } from '../framework/candidate.ts';
import type { Diagnosis } from '../framework/diagnosis.ts';
import type { Profile } from '../framework/profile.ts';
import type { Demand } from './placement/demand.ts';
import type { Planner } from './placement/planner.ts';
import type { Trial, Trials } from './placement/trials.ts';

/** What a gang that does not fit has before it. */
type Prospect = Extract<WaitsFor, 'capacity' | 'never' | 'unknown'>;

/** what makes members alike -> those that are */
type Kinds = ReadonlyMap<string, readonly Pod[]>;

/**
 * Counted steps that finding it out may take, about a quarter of a microsecond each: a look at a node for one kind of
 * member is one, and so is taking a pod off its node.
 */
const workLimit = 150_000;
const stepsPerNode = 4;
const stepsPerMember = 40;
/** Answers kept; one is small, and few gangs differ in shape. */
const answerLimit = 1_000;

/**
 * Tells a gang that only waits for others to go from one that would not fit on the nodes even if it had them to itself, by
 * trials. It says `never` only where no other way of placing the members could have done better. Gangs that ask for the same share the
 * answer, until the nodes change; one that would cost too much stays unknown.
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

  /** For a gang that was just refused, as `diagnosis` says, and whose refusal proves nothing by itself. */
  of(profile: Profile, candidate: Candidate, demand: Demand, diagnosis: Diagnosis): Prospect {
    if (!isAboutRoom(profile, diagnosis)) return 'unknown';
    const kinds = this.#kinds(profile, demand);
    // Pods that nothing is known to be alike to are looked at one by one, for too long.
    if (kinds === undefined || this.#stepsFor(demand, kinds.size) > workLimit) return 'unknown';
    if (demand.gang?.counted !== 0) return this.#try(profile, candidate, demand, kinds);
    const counts = [...kinds].map(([kind, pods]) => [kind, pods.length]);
    const { minResources } = demand.gang.spec ?? {};
    const key = JSON.stringify([profile.schedulerName, demand.needed, minResources, counts]);
    const known = this.#known(key);
    if (known !== undefined) return known;
    const prospect = this.#try(profile, candidate, demand, kinds);
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

  #try(profile: Profile, candidate: Candidate, { members, needed }: Demand, kinds: Kinds): Prospect {
    const together = this.#trials.run(profile, candidate, { without: 'others' });
    if (together.fits) return 'capacity';
    if (provesNever(profile, together)) return 'never';
    // Where all are needed each kind has to fit alone.
    if (needed < members.length || kinds.size === 1) return 'unknown';
    for (const alike of kinds.values()) {
      const alone = this.#trials.run(profile, candidate, { without: 'others', members: alike, need: alike.length });
      if (!alone.fits && provesNever(profile, alone)) return 'never';
    }
    return 'unknown';
  }

  /** Ordered by kind; undefined when some members are like nobody. */
  #kinds(profile: Profile, { members }: Demand): Kinds | undefined {
    const kinds = new Map<string, Pod[]>();
    for (const pod of members) {
      const { local, others } = this.#planner.signaturesOf(profile, pod);
      if (local === undefined || others === undefined) return undefined;
      const kind = `${others}${local}`;
      const alike = kinds.get(kind);
      if (alike === undefined) kinds.set(kind, [pod]);
      else alike.push(pod);
    }
    return new Map([...kinds].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #stepsFor({ members }: Demand, kinds: number): number {
    const { nodes, podCount } = this.#cluster;
    const trials = kinds === 1 ? 1 : kinds + 1;
    return (
      trials * (nodes.length * stepsPerNode + podCount) + 2 * (nodes.length * kinds + members.length * stepsPerMember)
    );
  }
}

/** Other pods may be the reason: no plugin has refused a member for a reason of its own. */
function isAboutRoom(profile: Profile, { refusal }: Diagnosis): boolean {
  return refusal.kind === 'nodes' || refusal.status.plugin === profile.gangPolicy;
}

function provesNever(profile: Profile, { isExhaustive, blocked }: Trial): boolean {
  return isExhaustive && blocked !== undefined && isAboutRoom(profile, blocked);
}
