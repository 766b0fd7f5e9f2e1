import type { Pod } from '../../api/pod.ts';
import type { Gang, GangView } from '../../cluster/gang.ts';
import { failureIn } from '../../framework/diagnosis.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Intake } from '../intake/intake.ts';
import type { NodeRefusals } from './node-refusals.ts';

/**
 * What the check decides about a group whose grace has ended:
 * - `open`: something else must end first;
 * - `wait`: the group can be completed now, or when pods that are being deleted are gone;
 * - `stay`: the group may not be released, for this reason;
 * - `release`: these members can be evicted.
 */
export type ReleaseDecision =
  | { readonly kind: 'open' | 'wait' }
  | { readonly kind: 'stay'; readonly why: string }
  | { readonly kind: 'release'; readonly members: readonly Pod[] };

/** The check waits for pods that are being deleted as long again as the grace, and at least this long. */
const terminationMs = 60_000;

/** Decides whether a group that is partially bound for longer than its grace can be released. */
export class ReleaseCheck {
  readonly #intake: Pick<Intake, 'clock' | 'cluster' | 'profiles' | 'trials'>;
  readonly #refusals: Pick<NodeRefusals, 'avoidedBy'>;
  readonly #logger: Logger;
  /** group key -> how many members had been bound when this process started; kept until no member of the group is left */
  readonly #found = new Map<string, number>();

  constructor(options: {
    readonly intake: Pick<Intake, 'clock' | 'cluster' | 'profiles' | 'trials'>;
    readonly refusals: Pick<NodeRefusals, 'avoidedBy'>;
    readonly logger: Logger;
  }) {
    this.#intake = options.intake;
    this.#refusals = options.refusals;
    this.#logger = options.logger;
  }

  /** The cache is complete. This process has not seen the history of the groups that it finds. */
  begin(): void {
    for (const gang of this.#intake.cluster.gangs()) if (isAlive(gang)) this.#found.set(gang.key, onceBound(gang));
  }

  /** The group or one of its members has changed. */
  look(key: string, gang: GangView | undefined): void {
    if (gang === undefined || !isAlive(gang)) this.#found.delete(key);
  }

  /** `since`: Clock.monotonic() at the end of the grace. `isBusy`: an eviction is under way, or the group is held after one. */
  of(gang: Gang, since: number, isBusy: boolean): ReleaseDecision {
    const { spec } = gang;
    const { profiles } = this.#intake;
    if (!spec!.releases) return { kind: 'stay', why: 'it keeps trying, as its repairPolicy says' };
    if (isBusy || gang.count('planned') > 0) return { kind: 'open' };
    const found = this.#found.get(gang.key);
    if (found !== undefined && !spec!.tellsOfStart) {
      return {
        kind: 'stay',
        why: 'it may have started before this scheduler did, and nobody keeps its condition Started',
      };
    }
    if (found !== undefined && found >= spec!.minMember) {
      const why = 'as many members as it needs had been on nodes before this scheduler began, so it may have started';
      return { kind: 'stay', why };
    }
    const other = this.#underWay();
    if (other !== undefined && other !== gang) return { kind: 'open' };
    const prospect = this.#prospect(gang, since);
    if (prospect === 'unknown') return { kind: 'stay', why: 'a plugin failed when it was asked where the others fit' };
    if (prospect !== 'none') return { kind: 'wait' };
    const bound = [...gang.members.values()].filter(({ uid }) => isOnNode(gang.stateOf(uid)));
    const ours = bound.filter(({ schedulerName }) => profiles.isOurs(schedulerName));
    const members = ours.filter(({ isControlled }) => isControlled);
    if (members.length > 0) return { kind: 'release', members };
    const [kept] = ours;
    if (kept === undefined) return { kind: 'stay', why: 'another scheduler has bound them' };
    return { kind: 'stay', why: `no controller would make ${kept.name} again` };
  }

  /** A group whose members are being deleted before it started: its capacity is not free yet. */
  #underWay(): Gang | undefined {
    for (const gang of this.#intake.cluster.gangs()) {
      if (gang.started || gang.spec === undefined || gang.count('leaving') === 0) continue;
      for (const pod of gang.members.values()) {
        if (gang.stateOf(pod.uid) === 'leaving' && this.#isGoing(pod)) return gang;
      }
    }
    return undefined;
  }

  /** It is about to free capacity. From a lost node it may never go. */
  #isGoing(pod: Pod): boolean {
    const node = this.#intake.cluster.nodeOf(pod);
    return pod.deleting && node !== undefined && !node.isLost;
  }

  /** Can the group be completed `now`, or `soon`, when pods that are being deleted are gone? `unknown`: a plugin failed. */
  #prospect(gang: Gang, since: number): 'now' | 'soon' | 'none' | 'unknown' {
    const { cluster, trials, profiles, clock } = this.#intake;
    // A nomination by another component may never be taken back, so the check does not wait for it without end.
    const isOver = clock.monotonic() - since >= Math.max(gang.spec!.repairGraceMs, terminationMs);
    if (!isOver) for (const uid of gang.pending.keys()) if (cluster.claimOf(uid)?.kind === 'nomination') return 'soon';
    const candidate = { kind: 'gang', gang } as const;
    const profile = profiles.of(candidate);
    const avoided = new Set([...gang.pending.values()].flatMap((pod) => this.#refusals.avoidedBy(pod)));
    const within =
      avoided.size === 0
        ? undefined
        : new Set(cluster.nodes.map(({ name }) => name).filter((name) => !avoided.has(name)));
    const options = within === undefined ? {} : { within };
    try {
      const trial = trials.run(profile, candidate, options);
      if (trial.fits) return 'now';
      if (trial.blocked !== undefined && failureIn(trial.blocked) !== undefined) return 'unknown';
      if (isOver) return 'none';
      const going = [...cluster.pods()].filter((pod) => this.#isGoing(pod));
      return going.length > 0 && trials.run(profile, candidate, { ...options, without: going }).fits ? 'soon' : 'none';
    } catch (error) {
      this.#logger.warn('could not find out whether a group can be completed', { podGroup: gang.key, error });
      return 'unknown';
    }
  }
}

export function isOnNode(state: ReturnType<GangView['stateOf']>): boolean {
  return state === 'bound' || state === 'stranded';
}

/** A group without any such member begins a new life. */
function isAlive(gang: GangView): boolean {
  const states = ['bound', 'stranded', 'leaving', 'succeeded'] as const;
  return states.some((state) => gang.count(state) > 0);
}

/** Members that are or have been bound, possibly not at the same time. */
function onceBound(gang: GangView): number {
  let count = 0;
  for (const { nodeName, uid } of gang.members.values()) if (nodeName !== '' && gang.stateOf(uid) !== 'former') count++;
  return count;
}
