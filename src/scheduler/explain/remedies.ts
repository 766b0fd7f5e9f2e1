import type { Remedy } from '../../api/explain/explanation.ts';
import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { DryRunOptions } from '../../framework/dry-run.ts';
import type { PreemptionPolicy } from '../../framework/preemption-policy.ts';
import type { Profile } from '../../framework/profile.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { Status } from '../../framework/status.ts';
import { TolerantPods } from '../cycle/unavailable-nodes.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { CoreDryRunOptions, DryRun, DryRuns } from '../placement/planning/dry-runs.ts';
import type { VictimSearch } from '../preemption/search/victim-search.ts';
import { podSubject } from './subjects.ts';

/** An entity that does not fit. */
export interface RemedyRequest {
  readonly profile: Profile;
  readonly schedulingEntity: SchedulingEntity;
  readonly demand: Demand;
  /** How many members a plan places. */
  readonly placed: number;
  readonly diagnosis: Diagnosis;
  readonly nodeSubsetOf: CoreDryRunOptions['nodeSubsetOf'];
  /** A search ended without an answer because it may make no more plans. */
  readonly onCapped: () => void;
}

export interface RemediesOptions {
  readonly cluster: Cluster;
  readonly dryRuns: Pick<DryRuns, 'steps'>;
  readonly victimSearch: VictimSearch;
}

const hostnameLabel = 'kubernetes.io/hostname';
/** Higher than any priority that a pod can have. */
const aboveAll = Infinity;
/** Maximum number of plans in the search for pods that have to end. */
const maxPlans = 5;
/** Maximum number of cordoned nodes that a plan tries to avoid, one by one. Attempts wait meanwhile. */
const maxAvoided = 50;

/**
 * Looks for changes that make an entity fit. Each that it returns was proved by a dry run in which the whole entity had nodes. Every method is one
 * transaction that leaves the cluster cache as it was.
 */
export class Remedies {
  readonly #options: RemediesOptions;

  constructor(options: RemediesOptions) {
    this.#options = options;
  }

  /** Pods that have to end: of the lowest priorities, and none that could stay. */
  *podsEnd(
    { profile, demand, nodeSubsetOf, onCapped }: RemedyRequest,
    budget: WorkBudget,
  ): Yielding<Remedy | undefined> {
    const request = { profile, demand, nodeSubsetOf, priority: aboveAll, policy: anyPodMayEnd };
    const { victims, outcome } = yield* this.#options.victimSearch.steps(request, budget);
    if (outcome.kind === 'ended') onCapped();
    if (victims.length === 0) return undefined;
    const pods = [...victims].sort((a, b) => a.priority - b.priority || (a.key < b.key ? -1 : 1));
    return { kind: 'podsEnd', pods: pods.map(podSubject), highestPriority: pods.at(-1)!.priority };
  }

  /** A priority above those of the pods that have to end, if the entity may then preempt them. */
  *raisePriority(
    { profile, schedulingEntity, demand, diagnosis, nodeSubsetOf }: RemedyRequest,
    above: number,
    budget: WorkBudget,
  ): Yielding<Remedy | undefined> {
    const lowest = demand.members.reduce((priority, pod) => Math.min(priority, pod.priority), Infinity);
    const policy = policyOf(profile, schedulingEntity, diagnosis);
    if (policy === undefined || above < lowest) return undefined;
    const request = { profile, demand, nodeSubsetOf, priority: above + 1, policy };
    const { nominations } = yield* this.#options.victimSearch.steps(request, budget);
    return nominations.length === 0 ? undefined : { kind: 'raisePriority', above };
  }

  /** The cordoned nodes that the entity would use. Fewer may be enough if they are many. */
  *uncordon(
    { profile, schedulingEntity, nodeSubsetOf, onCapped }: RemedyRequest,
    budget: WorkBudget,
  ): Yielding<Remedy | undefined> {
    const { nodes } = this.#options.cluster;
    const cordoned = new Set(nodes.filter(({ node }) => node.unschedulable).map(({ name }) => name));
    if (cordoned.size === 0) return undefined;
    const tolerant = new TolerantPods('cordoned');
    const asIf = (pod: Pod): Pod => tolerant.of(pod);
    const run = (options: DryRunOptions): Yielding<DryRun> =>
      this.#options.dryRuns.steps(profile, schedulingEntity, { ...options, nodeSubsetOf, asIf }, budget);
    const first = yield* run({});
    if (!first.fits) return undefined;
    const used = usedOf(first, cordoned);
    const others = nodes.map(({ name }) => name).filter((name) => !cordoned.has(name));
    // Fewer of them may be enough: the plan did not try to avoid them.
    const within = new Set([...others, ...used]);
    if (used.size > maxAvoided) onCapped();
    for (const name of [...used].slice(0, maxAvoided)) {
      within.delete(name);
      const { fits } = yield* run({ within });
      if (!fits) within.add(name);
      if (budget.isDue) yield;
    }
    return { kind: 'uncordon', nodes: [...used].filter((name) => within.has(name)).sort() };
  }

  /**
   * Copies of the node `like` that are enough, found by doubling and halving, so that fewer may be enough too. None if `limit` are not. Adds the
   * copies to the cluster cache for a while, so nothing else may use it.
   */
  *addNodes(
    { profile, schedulingEntity, nodeSubsetOf, onCapped }: RemedyRequest,
    like: NodeInfo,
    limit: number,
    budget: WorkBudget,
  ): Yielding<Remedy | undefined> {
    const { cluster, dryRuns } = this.#options;
    if (nodeSubsetOf !== undefined) return undefined;
    let [tooFew, enough] = [0, Infinity];
    for (let plans = 0; plans < maxPlans && enough - tooFew > 1; plans++) {
      const count = enough === Infinity ? Math.min(limit, Math.max(1, 2 * tooFew)) : Math.floor((tooFew + enough) / 2);
      if (count === tooFew) return undefined;
      const copies = copiesOf(like, count, (name) => cluster.node(name) !== undefined);
      try {
        for (const copy of copies) cluster.setNode(copy);
        const { fits } = yield* dryRuns.steps(profile, schedulingEntity, {}, budget);
        if (fits) enough = count;
        else tooFew = count;
      } finally {
        for (const { name } of copies) cluster.removeNode(name);
      }
    }
    if (enough < Infinity) return { kind: 'addNodes', count: enough, like: like.name };
    onCapped();
    return undefined;
  }

  /** The largest minMember with which the group would start now. */
  *lowerMinMember(
    { profile, schedulingEntity, demand, placed, nodeSubsetOf }: RemedyRequest,
    budget: WorkBudget,
  ): Yielding<Remedy | undefined> {
    const { gang, needed } = demand;
    if (gang?.spec === undefined || placed === 0 || placed >= needed) return undefined;
    const to = gang.spec.minMember - (needed - placed);
    const { fits } = yield* this.#options.dryRuns.steps(
      profile,
      schedulingEntity,
      { need: placed, nodeSubsetOf },
      budget,
    );
    return fits && to > 0 ? { kind: 'lowerMinMember', to } : undefined;
  }
}

/** Returns copies of the node without its pods, under names that no other node has. */
function copiesOf({ node }: NodeInfo, count: number, isTaken: (name: string) => boolean): readonly Node[] {
  const copies: Node[] = [];
  for (let number = 1; copies.length < count; number++) {
    const name = `${node.name}-copy-${number}`;
    if (!isTaken(name)) copies.push(copyOf(node, name));
  }
  return copies;
}

function copyOf(node: Node, name: string): Node {
  const labels = { ...node.labels, ...(hostnameLabel in node.labels && { [hostnameLabel]: name }) };
  return { ...node, name, labels, taints: node.taints, unschedulable: false };
}

function usedOf({ plan }: DryRun, cordoned: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(plan.map(({ nodeName }) => nodeName).filter((name) => cordoned.has(name)));
}

/** Pods end by themselves, so budgets do not matter. A DaemonSet starts its pod again, and a static pod comes back. */
const anyPodMayEnd: PreemptionPolicy = {
  protects: ({ template }: Pod) =>
    template.isOfDaemonSet === true || template.isStatic === true ? { why: 'that their node needs' } : undefined,
  skipped: () => undefined,
  hasBudgets: false,
  allowances: () => [],
  maxPlans,
  describe: () => '',
};

/** Returns the policy by which the entity may preempt; undefined: it may not. */
function policyOf(
  profile: Profile,
  schedulingEntity: SchedulingEntity,
  diagnosis: Diagnosis,
): PreemptionPolicy | undefined {
  for (const answer of profile.postFilter(schedulingEntity, diagnosis)) {
    const policy = answer instanceof Status ? undefined : answer.result.policy;
    // The plugin need not remember what this search skipped.
    if (policy !== undefined) return { ...policy, maxPlans, skipped: () => undefined };
  }
  return undefined;
}
