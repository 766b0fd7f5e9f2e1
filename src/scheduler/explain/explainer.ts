import { explainApiVersion } from '../../api/explain/basis.ts';
import type { PartError, Unknown } from '../../api/explain/basis.ts';
import type { Blocker, Explanation, Remedy, StartPrediction } from '../../api/explain/explanation.ts';
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
import type { SchedulingCycle } from '../cycle/scheduling-cycle.ts';
import type { WaitCauses } from '../cycle/wait-causes.ts';
import type { Extenders } from '../extenders/extenders.ts';
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
import { shortageForUsers } from './shortages.ts';

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
  /** See SchedulingCycle. */
  readonly usableNodes: SchedulingCycle['usableNodes'];
  readonly nodesToTry: SchedulingCycle['nodesToTry'];
  /** Returns which reservations until a predicted start do not count for the entity; see Turns. */
  readonly ignoredReservations: (entity: QueuedEntity, demand: Demand) => Rejected['ignoresReservationOf'];
  /** Absent: no extenders. */
  readonly extenders?: Pick<Extenders, 'mayReject'> | undefined;
}

/** A task in parts. Nothing may change the cluster cache during a part; between two parts it may. */
export type Parts<T> = Generator<(budget: WorkBudget) => Yielding<void>, T, void>;

/** An explanation without what only the caller knows, and what it does not know. */
export type ExplanationPart = Omit<Explanation, 'basis'> & { readonly unknowns: readonly Unknown[] };

/** An entity that does not fit, and how it was planned. */
interface Rejected {
  readonly profile: Profile;
  readonly schedulingEntity: SchedulingEntity;
  readonly demand: Demand;
  readonly plan: DryRun;
  readonly diagnosis: Diagnosis;
  readonly nodeSubsetOf: NodeSubsetOf | undefined;
  readonly ignoresReservationOf: ((uid: string) => boolean) | undefined;
}

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
    const other = this.#otherScheduler(schedulingEntity);
    this.#summarize(findings, found, entity, other === undefined);
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

  /** Adds what needs no plan. `isOurs`: whether Tutti decides about the entity, so that it is known what it waits for. */
  #summarize(
    findings: Findings,
    { gang, pod, schedulingEntity }: Found,
    entity: QueuedEntity | undefined,
    isOurs: boolean,
  ): void {
    const { cluster, verdictOf } = this.#options;
    findings.state = pod === undefined ? stateOfGang(gang!) : stateOfPod(pod, cluster.isAssumed(pod.uid));
    if (gang !== undefined) findings.gang = countsOf(gang);
    const first = pod ?? firstOf(gang!.pending.values());
    const verdict = first && verdictOf(first.uid);
    const { reason, message } = verdict ?? (first && shownVerdict(first)) ?? {};
    const shown = reason === undefined || message === undefined ? undefined : { reason, message };
    const notReady = entity === undefined ? this.#rejectedBefore(schedulingEntity) : gateOf(entity);
    if (isOurs && notReady !== undefined) {
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
    const { cluster, dryRuns, profiles, queue, ...options } = this.#options;
    const profile = profiles.of(schedulingEntity);
    let demand = demandOf(cluster, schedulingEntity);
    let plan: DryRun | undefined;
    let nodeSubsetOf: NodeSubsetOf | undefined;
    let ignoresReservationOf: Rejected['ignoresReservationOf'];
    yield* part(findings, 'plan', function* (budget) {
      demand = demandOf(cluster, schedulingEntity);
      ignoresReservationOf = entity && options.ignoredReservations(entity, demand);
      for (nodeSubsetOf of options.nodesToTry(entityKeyOf(schedulingEntity), demand.members)) {
        const assumed = { nodeSubsetOf, ignoresBackfillOf: ignoresReservationOf, shortages: 'all' as const };
        plan = yield* dryRuns.steps(profile, schedulingEntity, assumed, budget);
        if (plan.fits) break;
      }
    });
    if (plan === undefined) return;
    const isLeftToExtenders = options.extenders?.mayReject(demand.members) === true;
    findings.placed = plan.plan.length;
    findings.needed = demand.needed;
    if (entity !== undefined) findings.ahead = queue.ahead(entity);
    if (isLeftToExtenders) findings.unknowns.push('extenders');
    if (isLeftToExtenders && plan.fits) findings.waitsFor ??= 'unknown';
    else findings.fitsNow = plan.fits;
    const diagnosis = plan.blocked;
    if (plan.fits || diagnosis === undefined) return;
    findings.shortages = diagnosis.shortages?.map(shortageForUsers) ?? [];
    const rejected = { profile, schedulingEntity, demand, plan, diagnosis, nodeSubsetOf, ignoresReservationOf };
    yield* this.#whileCurrent(
      findings,
      rejected,
      this.#explainRejection(findings, rejected, { mayAddNodes, mayAdvise: !isLeftToExtenders }),
    );
  }

  /** Yields the parts while what they build on is as it was: attempts and watch events come between two parts. Then notes that, and ends. */
  *#whileCurrent(findings: Findings, { demand, plan }: Rejected, parts: Parts<void>): Parts<void> {
    const { cluster } = this.#options;
    const { members, gang } = demand;
    const isCurrent = (): boolean =>
      members.every(({ uid }) => cluster.openPod(uid) !== undefined) &&
      plan.plan.every(({ nodeName }) => cluster.node(nodeName) !== undefined) &&
      (gang === undefined || cluster.gang(gang.key) === gang);
    let hasChanged = false;
    for (const steps of parts) {
      yield function* (budget): Yielding<void> {
        hasChanged = !isCurrent();
        if (!hasChanged) yield* steps(budget);
      };
      if (!hasChanged) continue;
      findings.errors.push({ part: 'cluster', message: 'the cluster changed while it was explained; ask again' });
      return;
    }
  }

  *#explainRejection(
    findings: Findings,
    rejected: Rejected,
    { mayAddNodes, mayAdvise }: { readonly mayAddNodes: boolean; readonly mayAdvise: boolean },
  ): Parts<void> {
    const { waitCauses, usableNodes } = this.#options;
    const { profile, schedulingEntity, demand, plan, diagnosis } = rejected;
    let looks: readonly NodeLook[] = [];
    yield* part(
      findings,
      'nodes',
      function* (this: Explainer, budget: WorkBudget) {
        ({ blocker: findings.blocker, looks } = yield* this.#look(rejected, budget));
      }.bind(this),
    );
    const nodeSubsetOf = usableNodes(demand.members);
    yield* part(findings, 'waitsFor', function* (budget) {
      const { waitsFor } = yield* waitCauses.of({ ...rejected, plan: { never: plan.never } }, budget);
      findings.waitsFor ??= waitsFor;
      findings.withoutOtherPods = withoutOtherPods(waitsFor);
    });
    if (diagnosis.rejection.kind === 'pod' || !mayAdvise) return;
    const onCapped = (): void => {
      if (!findings.unknowns.includes('workCap')) findings.unknowns.push('workCap');
    };
    const request = { profile, schedulingEntity, demand, diagnosis, placed: plan.plan.length, nodeSubsetOf, onCapped };
    yield* this.#findRemedies(findings, request, mayAddNodes ? nodeLike(findings.blocker, looks) : undefined);
    if (findings.withoutOtherPods === 'fits')
      yield* part(
        findings,
        'start',
        function* (this: Explainer, budget: WorkBudget) {
          findings.start = yield* this.#predict(profile, demand, looks, nodeSubsetOf, budget);
        }.bind(this),
      );
  }

  *#look(
    { profile, demand: { members, gang }, plan, diagnosis, nodeSubsetOf, ignoresReservationOf }: Rejected,
    budget: WorkBudget,
  ): Yielding<{ readonly blocker: Blocker; readonly looks: readonly NodeLook[] }> {
    const { cluster } = this.#options;
    const { resources } = cluster;
    const { pod, placedBefore = 0, rejection } = diagnosis;
    const { requests } = pod.template;
    const common = {
      member: pod.name,
      alike: members.filter(({ template }) => template === pod.template).length,
      requests: Object.fromEntries(
        requests.ids
          .map((id, i): [string, number] => [resources.nameOf(id), requests.amounts[i]!])
          .map(([name, amount]) => [name, formatAmount(name, amount)] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      nodes: cluster.nodes.length,
    };
    if (rejection.kind === 'pod') {
      const [detail] = rejectionDetails(rejection.status, pod, [], resources, undefined);
      return { blocker: { ...common, funnel: [], rejection: detail!, nearest: [] }, looks: [] };
    }
    const siblings = plan.plan.slice(0, placedBefore);
    const request = { profile, pod, isOfGang: gang !== undefined, siblings, nodeSubsetOf, ignoresReservationOf };
    return yield* this.#looks.steps(
      request,
      ({ looks, rejectionsOn }) => ({
        looks,
        blocker: {
          ...common,
          funnel: funnelOf(looks, pod, profile, resources),
          nearest: nearestNodes(looks, pod, rejectionsOn, resources),
        },
      }),
      budget,
    );
  }

  *#findRemedies(findings: Findings, request: RemedyRequest, like: NodeInfo | undefined): Parts<void> {
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
      yield* part(findings, name, function* (budget) {
        const remedy = yield* find(budget);
        if (remedy === undefined) return;
        if (remedy.kind === 'podsEnd') ends = remedy;
        findings.whatHelps.push(remedy);
      });
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

/** Yields the part. If it fails, notes that. */
function* part(findings: Findings, name: string, steps: (budget: WorkBudget) => Yielding<void>): Parts<void> {
  yield function* guarded(budget): Yielding<void> {
    try {
      yield* steps(budget);
    } catch (error) {
      findings.errors.push({ part: name, message: safeMessage(messageOf(error)) });
    }
  };
}
