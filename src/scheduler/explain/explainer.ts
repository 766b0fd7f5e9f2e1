import { explainApiVersion } from '../../api/explain/basis.ts';
import type { PartError, Unknown } from '../../api/explain/basis.ts';
import type { Blocker, Explanation, Remedy, Shortage, StartPrediction } from '../../api/explain/explanation.ts';
import { formatAmount } from '../../api/format-amount.ts';
import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import type { Pod } from '../../api/pod.ts';
import type { Verdict, WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/message-of.ts';
import { safeMessage } from '../../base/safe-text.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { RunTimes } from '../../cluster/run-times.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Status } from '../../framework/status.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import { StartSearch } from '../backfill/start-search.ts';
import type { WaitCauses } from '../cycle/wait-causes.ts';
import type { NodeSubsetOf } from '../placement/cache/node-subset.ts';
import { demandOf } from '../placement/planning/demand.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { DryRun, DryRuns } from '../placement/planning/dry-runs.ts';
import type { Planner } from '../placement/planning/planner.ts';
import { VictimSearch } from '../preemption/search/victim-search.ts';
import type { Profiles } from '../profiles.ts';
import { countsOf, shownVerdict, stateOfGang, stateOfPod } from './entity-summary.ts';
import { findSubject } from './find-subject.ts';
import type { Found, SubjectName } from './find-subject.ts';
import { funnelOf } from './funnel.ts';
import { nearestNodes } from './nearest-nodes.ts';
import { NodeLooks } from './node-looks.ts';
import type { NodeLook } from './node-looks.ts';
import { rejectionDetails } from './rejection-details.ts';
import { Remedies } from './remedies.ts';
import type { RemedyRequest } from './remedies.ts';
import { shortagesOf } from './shortages.ts';

export interface ExplainerOptions {
  readonly cluster: Cluster;
  readonly queue: Pick<SchedulingQueue, 'get' | 'ahead'>;
  readonly profiles: Pick<Profiles, 'of' | 'isOurs' | 'schedulerNames'>;
  readonly planner: Planner;
  readonly dryRuns: DryRuns;
  readonly waitCauses: WaitCauses;
  readonly runTimes: Pick<RunTimes, 'endOf'>;
  readonly clock: Clock;
  /** Returns the verdict of this process; undefined: it has given none. */
  readonly verdictOf: (uid: string) => Verdict | undefined;
  /** Returns the nodes that a member may use. */
  readonly usableNodes: (members: readonly Pod[]) => NodeSubsetOf | undefined;
}

/** A task in parts. Nothing may change the cluster cache during a part; between two parts it may. */
export type Parts<T> = Generator<(budget: WorkBudget) => Yielding<void>, T, void>;

/** An explanation without what only the caller knows, and what it does not know. */
export type ExplanationPart = Omit<Explanation, 'basis'> & { readonly unknowns: readonly Unknown[] };

/** What the parts have found so far. */
type Findings = { -readonly [K in keyof ExplanationPart]?: ExplanationPart[K] } & {
  readonly errors: PartError[];
  readonly whatHelps: Remedy[];
  readonly unknowns: Unknown[];
};

/**
 * Explains why an entity waits, by dry runs on the cluster as it is. It changes nothing: not the cache, the queue, a verdict or what later
 * attempts decide. A part that fails is reported in `errors` and hides no other.
 */
export class Explainer {
  readonly #options: ExplainerOptions;
  readonly #looks: NodeLooks;
  readonly #remedies: Remedies;
  readonly #startSearch: StartSearch;

  constructor(options: ExplainerOptions) {
    const { cluster, planner, dryRuns, runTimes } = options;
    this.#options = options;
    this.#looks = new NodeLooks(cluster);
    this.#remedies = new Remedies({ cluster, dryRuns, victimSearch: new VictimSearch(cluster, planner) });
    this.#startSearch = new StartSearch({ cluster, planner, endOf: (pod) => runTimes.endOf(pod) });
  }

  /**
   * Returns undefined if the cluster cache knows neither a group nor a pod of this name. `mayAddNodes`: nothing else uses the cluster cache, so
   * that a part may add nodes to it for a while.
   */
  *explain(name: SubjectName, mayAddNodes = false): Parts<ExplanationPart | undefined> {
    const found = findSubject(name, this.#options);
    if (found === undefined) return undefined;
    const { subject, schedulingEntity, gang, pod } = found;
    const findings: Findings = { whatHelps: [], errors: [], unknowns: [] };
    const entity = this.#options.queue.get(entityKeyOf(schedulingEntity));
    this.#summarize(findings, found, entity);
    const other = this.#otherScheduler(schedulingEntity);
    if (other !== undefined) findings.errors.push({ part: 'scheduler', message: other });
    else if (entity?.state.kind !== 'gated') {
      const demand = demandOf(this.#options.cluster, schedulingEntity);
      if (demand.needed > 0 && demand.members.length > 0)
        yield* this.#explainDemand(findings, schedulingEntity, entity, mayAddNodes);
    }
    const {
      state = gang === undefined ? stateOfPod(pod!, false) : stateOfGang(gang),
      shortages = [],
      ...rest
    } = findings;
    return { apiVersion: explainApiVersion, kind: 'Explanation', subject, state, shortages, ...rest };
  }

  /** Returns that another scheduler decides about the entity; undefined: it is ours, or nothing of it waits. */
  #otherScheduler(schedulingEntity: SchedulingEntity): string | undefined {
    const { profiles } = this.#options;
    const [first, ...others] =
      schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : schedulingEntity.gang.pending.values();
    if (first === undefined || [first, ...others].some(({ schedulerName }) => profiles.isOurs(schedulerName)))
      return undefined;
    return `another scheduler decides: spec.schedulerName is ${safeMessage(first.schedulerName)}, not ${profiles.schedulerNames.join(' or ')}`;
  }

  /** Adds what needs no plan. */
  #summarize(findings: Findings, { gang, pod, schedulingEntity }: Found, entity: QueuedEntity | undefined): void {
    const { cluster, verdictOf } = this.#options;
    findings.state = pod === undefined ? stateOfGang(gang!) : stateOfPod(pod, cluster.isAssumed(pod.uid));
    if (gang !== undefined) findings.gang = countsOf(gang);
    const first = pod ?? firstOf(gang!.pending.values());
    const verdict = first && verdictOf(first.uid);
    const { reason, message } = verdict ?? (first && shownVerdict(first)) ?? {};
    const shown = reason === undefined || message === undefined ? undefined : { reason, message };
    const notReady = entity === undefined ? this.#rejectedBefore(schedulingEntity) : gateOf(entity);
    if (notReady !== undefined) {
      findings.verdict = shown ?? { reason: 'WaitingForGang', message: safeMessage(`${notReady.message}.`) };
      findings.waitsFor = verdict?.waitsFor ?? (gang !== undefined && gang.count('gated') > 0 ? 'gates' : 'members');
    } else if (shown !== undefined) {
      findings.verdict = shown;
      if (verdict !== undefined && verdict.waitsFor !== 'unknown') findings.waitsFor = verdict.waitsFor;
    }
    if (entity !== undefined) {
      findings.since = toKubernetesTime(entity.readySince ?? entity.since);
      findings.attempts = entity.attempts;
    }
  }

  /** Returns why a group that has no entity in the queue, such as one without members, is not ready; undefined: it is ready, or has started. */
  #rejectedBefore(schedulingEntity: SchedulingEntity): Status | undefined {
    if (schedulingEntity.kind === 'pod' || stateOfGang(schedulingEntity.gang) !== 'Waiting') return undefined;
    return this.#options.profiles.of(schedulingEntity).preEnqueue(schedulingEntity);
  }

  *#explainDemand(
    findings: Findings,
    schedulingEntity: SchedulingEntity,
    entity: QueuedEntity | undefined,
    mayAddNodes: boolean,
  ): Parts<void> {
    const { cluster, dryRuns, profiles, waitCauses } = this.#options;
    const profile = profiles.of(schedulingEntity);
    let demand = demandOf(cluster, schedulingEntity);
    const nodeSubsetOf = this.#options.usableNodes(demand.members);
    let plan: DryRun | undefined;
    yield* part(findings, 'plan', function* (budget) {
      demand = demandOf(cluster, schedulingEntity);
      plan = yield* dryRuns.steps(profile, schedulingEntity, { nodeSubsetOf }, budget);
    });
    if (plan === undefined) return;
    const planned = plan.plan;
    const { members, gang } = demand;
    // Attempts and watch events come between two parts.
    const isCurrent = (): boolean =>
      members.every(({ uid }) => cluster.openPod(uid) !== undefined) &&
      planned.every(({ nodeName }) => cluster.node(nodeName) !== undefined) &&
      (gang === undefined || cluster.gang(gang.key) === gang);
    findings.placed = plan.plan.length;
    findings.needed = demand.needed;
    findings.fitsNow = plan.fits;
    if (entity !== undefined) findings.ahead = this.#options.queue.ahead(entity);
    const diagnosis = plan.blocked;
    if (plan.fits || diagnosis === undefined) return;
    const { never } = plan;
    const siblings = plan.plan.slice(0, diagnosis.placedBefore ?? 0);
    let looks: readonly NodeLook[] = [];
    yield* part(
      findings,
      'nodes',
      function* (this: Explainer, budget: WorkBudget) {
        const {
          blocker,
          shortages,
          looks: found,
        } = yield* this.#look(profile, demand, diagnosis, siblings, nodeSubsetOf, budget);
        looks = found;
        findings.blocker = blocker;
        findings.shortages = shortages;
      }.bind(this),
      isCurrent,
    );
    yield* part(
      findings,
      'waitsFor',
      function* (budget) {
        const request = { profile, schedulingEntity, demand, plan: { never }, diagnosis, nodeSubsetOf };
        const { waitsFor } = yield* waitCauses.of(request, budget);
        findings.waitsFor ??= waitsFor;
        findings.withoutOtherPods = withoutOtherPods(waitsFor);
      },
      isCurrent,
    );
    if (diagnosis.rejection.kind === 'pod') return;
    const onCapped = (): void => {
      if (!findings.unknowns.includes('workCap')) findings.unknowns.push('workCap');
    };
    const request = { profile, schedulingEntity, demand, diagnosis, placed: plan.plan.length, nodeSubsetOf, onCapped };
    yield* this.#findRemedies(
      findings,
      request,
      isCurrent,
      mayAddNodes ? nodeLike(findings.blocker, looks) : undefined,
    );
    if (findings.withoutOtherPods === 'fits')
      yield* part(
        findings,
        'start',
        function* (this: Explainer, budget: WorkBudget) {
          findings.start = yield* this.#predict(profile, demand, looks, nodeSubsetOf, budget);
        }.bind(this),
        isCurrent,
      );
  }

  *#look(
    profile: Profile,
    { members, needed, gang }: Demand,
    { pod }: Diagnosis,
    siblings: DryRun['plan'],
    nodeSubsetOf: NodeSubsetOf | undefined,
    budget: WorkBudget,
  ): Yielding<{
    readonly blocker: Blocker;
    readonly shortages: readonly Shortage[];
    readonly looks: readonly NodeLook[];
  }> {
    const { resources } = this.#options.cluster;
    const request = { profile, pod, isOfGang: gang !== undefined, siblings, nodeSubsetOf };
    const { requests } = pod.template;
    const names = requests.ids.map((id) => resources.nameOf(id));
    const found = yield* this.#looks.steps(
      request,
      ({ looks, rejected, rejectionsOn }) => ({
        looks,
        rejected,
        funnel: rejected === undefined ? funnelOf(looks, pod, profile, resources) : [],
        nearest: rejected === undefined ? nearestNodes(looks, pod, rejectionsOn, resources) : [],
      }),
      budget,
    );
    const { looks, rejected, funnel, nearest } = found;
    const [rejection] = rejected === undefined ? [] : rejectionDetails(rejected, pod, [], resources, undefined);
    const blocker: Blocker = {
      member: pod.name,
      alike: members.filter(({ template }) => template === pod.template).length,
      requests: Object.fromEntries(
        names
          .map((name, i) => [name, formatAmount(name, requests.amounts[i]!)] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      nodes: looks.length,
      funnel,
      ...(rejection !== undefined && { rejection }),
      nearest,
    };
    return {
      blocker,
      shortages: rejected === undefined ? shortagesOf(looks, pod, { members, needed }, resources) : [],
      looks,
    };
  }

  *#findRemedies(
    findings: Findings,
    request: RemedyRequest,
    isCurrent: () => boolean,
    like: NodeInfo | undefined,
  ): Parts<void> {
    const remedies = this.#remedies;
    let ends: Remedy | undefined;
    const parts: Record<string, (budget: WorkBudget) => Yielding<Remedy | undefined>> = {
      podsEnd: (budget) => remedies.podsEnd(request, budget),
      uncordon: (budget) => remedies.uncordon(request, budget),
      *addNodes(budget) {
        return like && (yield* remedies.addNodes(request, like, request.demand.needed, budget));
      },
      lowerMinMember: (budget) => remedies.lowerMinMember(request, budget),
      *raisePriority(budget) {
        return ends?.kind === 'podsEnd'
          ? yield* remedies.raisePriority(request, ends.highestPriority, budget)
          : undefined;
      },
    };
    for (const [name, find] of Object.entries(parts)) {
      yield* part(
        findings,
        name,
        function* (budget) {
          const remedy = yield* find(budget);
          if (remedy === undefined) return;
          if (remedy.kind === 'podsEnd') ends = remedy;
          findings.whatHelps.push(remedy);
        },
        isCurrent,
      );
    }
  }

  *#predict(
    profile: Profile,
    demand: Demand,
    looks: readonly NodeLook[],
    nodeSubsetOf: NodeSubsetOf | undefined,
    budget: WorkBudget,
  ): Yielding<StartPrediction> {
    const { cluster, runTimes } = this.#options;
    const future = yield* this.#startSearch.earliest(
      { profile, demand, nodes: cluster.nodes, within: undefined, nodeSubsetOf, ignoresReservationOf: () => false },
      budget,
    );
    if (future?.startsAt !== undefined)
      return { at: toKubernetesTime(future.startsAt), confidence: future.isEstimated ? 'Estimated' : 'Declared' };
    let [blocking, withoutEnd] = [0, 0];
    for (const { node, status } of looks) {
      // Only what other pods cause can change when they end.
      if (status?.code !== 'Unschedulable') continue;
      for (const pod of node.pods.values()) {
        blocking++;
        if (runTimes.endOf(pod).at === Infinity) withoutEnd++;
      }
    }
    return { confidence: 'Unknown', withoutEnd, blocking };
  }
}

function firstOf(pods: Iterable<Pod>): Pod | undefined {
  return [...pods].sort((a, b) => (a.uid < b.uid ? -1 : 1))[0];
}

function withoutOtherPods(waitsFor: WaitsFor): Explanation['withoutOtherPods'] {
  if (waitsFor === 'capacity' || waitsFor === 'turn') return 'fits';
  return waitsFor === 'never' ? 'never' : 'unknown';
}

function gateOf({ state }: QueuedEntity): Status | undefined {
  return state.kind === 'gated' ? state.status : undefined;
}

/** Returns the nearest node that would take the member if no other pod was there. */
function nodeLike(blocker: Blocker | undefined, looks: readonly NodeLook[]): NodeInfo | undefined {
  const suitable = looks.filter(({ status }) => status?.code === 'Unschedulable').map(({ node }) => node);
  const nearest = blocker?.nearest.map(({ node }) => node) ?? [];
  return suitable.find(({ name }) => nearest.includes(name)) ?? suitable[0];
}

const changed = 'the cluster changed while it was explained; ask again';

/** Yields the part. If it fails, or the state that it builds on is not `isCurrent` any more, notes that. */
function* part(
  findings: Findings,
  name: string,
  steps: (budget: WorkBudget) => Yielding<void>,
  isCurrent: () => boolean = () => true,
): Parts<void> {
  yield function* guarded(budget): Yielding<void> {
    if (!isCurrent()) {
      const isNoted = findings.errors.some(({ message }) => message === changed);
      if (!isNoted) findings.errors.push({ part: name, message: changed });
      return;
    }
    try {
      yield* steps(budget);
    } catch (error) {
      findings.errors.push({ part: name, message: safeMessage(messageOf(error)) });
    }
  };
}
