import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Savepoint, Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import type { Profile } from '../../framework/profile.ts';
import type { NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { Planner } from '../placement/planning/planner.ts';
import { undoAssignments } from '../placement/planning/undo-assignments.ts';
import type { ExpectedEnd } from '../../cluster/run-times.ts';

/** What is reserved for an entity since an earlier prediction. */
export interface Held {
  /** When the first reservation was made, in milliseconds since the epoch. */
  readonly since: number;
  /** See FuturePlan. */
  readonly from: number;
  /** Pods of at most this priority respect the reservations. */
  readonly priority: number;
}

/** The entity to place, and where. */
export interface StartRequest {
  readonly profile: Profile;
  readonly demand: Demand;
  /** The nodes of one pool. */
  readonly nodes: readonly NodeInfo[];
  /** Names of the only nodes to use; undefined: all nodes of the cluster. */
  readonly within: ReadonlySet<string> | undefined;
  readonly nodeSubsetOf: NodeSubsetOf | undefined;
  /** Returns whether the reservation of this owner, by uid, does not count. */
  readonly ignoresReservationOf: (uid: string) => boolean;
  /** Undefined: nothing is reserved for the entity on these nodes yet. */
  readonly held?: Held | undefined;
}

/** A plan for the time when other pods have ended. */
export interface FuturePlan {
  readonly nominations: readonly Nomination[];
  /** When the last pod in the way ends, in milliseconds since the epoch; undefined if some pods in the way have no known end. */
  readonly startsAt: number | undefined;
  /** Pods that will have ended by then may still start on its nodes. Milliseconds since the epoch. */
  readonly from: number;
  /** True if the end of a pod in the way is an estimate. */
  readonly isEstimated: boolean;
}

export interface StartSearchOptions {
  readonly cluster: Cluster;
  readonly planner: Planner;
  readonly endOf: (pod: Pod) => ExpectedEnd;
}

/** A pod that will end, and when, in milliseconds since the epoch. */
interface Ending extends ExpectedEnd {
  readonly pod: Pod;
  readonly nodeName: string;
}

/** Work of finding out when one pod ends, in node checks. */
const workPerEnd = 2;
/** How many pods can be grouped by node at the cost of one node check. */
const podsGroupedPerCheck = 2;
/** Number of pods to take out between two checks whether a pause is due. */
const takenOutAtATime = 250;
/** Work of taking out one pod or putting it back, and of the first one of each node, in node checks. */
const workPerPod = 3;
const workPerNode = 16;

/**
 * Finds out when an entity that does not fit now could start at the latest. Every answer is proved by a plan: the whole entity fits once these
 * pods have ended.
 */
export class StartSearch {
  readonly #options: StartSearchOptions;

  constructor(options: StartSearchOptions) {
    this.#options = options;
  }

  /**
   * Returns the plan for the earliest end of a pod after which the entity fits; undefined if it does not fit even after the last known end. Runs
   * in steps. Until it ends or is abandoned, nothing else may change the cluster cache; then the cache is as before.
   */
  *earliest(request: StartRequest, budget: WorkBudget): Yielding<FuturePlan | undefined> {
    const steps = yield* byTime(yield* this.#pods(request, budget), budget);
    if (steps.length === 0) return undefined;
    const bisection = this.#bisection(request, budget);
    try {
      const found = yield* bisection.fewest(steps);
      if (found === undefined) return undefined;
      const ended = steps.slice(0, found.count).flat();
      const blocking = inTheWay(ended, found.nominations);
      const startsAt = steps[found.count - 1]!.reduce((latest, { at }) => Math.max(latest, at), 0);
      return {
        nominations: found.nominations,
        startsAt,
        from: Math.min(startsAt, latestFrom(blocking, request.held)),
        isEstimated: blocking.some((ending) => ending.isEstimated),
      };
    } finally {
      bisection.end();
    }
  }

  /**
   * Returns a plan on the nodes with the fewest pods without a known end, as if all pods there had ended; undefined if the entity does not fit
   * even then. Members that may wait for a replacement stay: it would wait for the drained nodes in turn. Runs in steps, like `earliest`.
   */
  *draining(request: StartRequest, budget: WorkBudget): Yielding<FuturePlan | undefined> {
    const pods = (yield* this.#pods(request, budget)).filter(
      ({ at, pod }) => at < Infinity || !this.#lacksMembers(pod),
    );
    const known = pods.filter(({ at }) => at < Infinity);
    const unknown = Map.groupBy(
      pods.filter(({ at }) => at === Infinity),
      ({ nodeName }) => nodeName,
    );
    const nodes = [...unknown].sort(([a, here], [b, there]) => here.length - there.length || (a < b ? -1 : 1));
    const bisection = this.#bisection(request, budget);
    try {
      const found = yield* bisection.fewest([known, ...nodes.map(([, here]) => here)]);
      if (found === undefined) return undefined;
      const { nominations } = found;
      let from = 0;
      for (const { at } of inTheWay(pods, nominations)) if (at < Infinity) from = Math.max(from, at);
      return { nominations, startsAt: undefined, from, isEstimated: false };
    } finally {
      bisection.end();
    }
  }

  /** Returns the pods on the request's nodes, with their ends. Leaves out the siblings of the entity's pods, unless their group has no quorum. */
  *#pods({ nodes, demand }: StartRequest, budget: WorkBudget): Yielding<readonly Ending[]> {
    // A member beyond the quorum runs beside its siblings, too.
    const key = demand.gang?.key ?? demand.members[0]?.podGroupKey;
    const hasQuorum = key !== undefined && this.#options.cluster.gang(key)?.spec?.minMember !== 0;
    const own = hasQuorum ? key : undefined;
    const endings: Ending[] = [];
    for (const node of nodes) {
      budget.spend(1 + node.pods.size * workPerEnd);
      if (budget.isDue) yield;
      for (const pod of node.pods.values()) {
        if (own !== undefined && pod.podGroupKey === own && !pod.deleting) continue;
        endings.push({ pod, nodeName: node.name, ...this.#options.endOf(pod) });
      }
    }
    return endings;
  }

  /** Returns whether the pod's group has started, lacks members, and has no reservation for their replacements. */
  #lacksMembers({ podGroupKey: key }: Pod): boolean {
    const { cluster } = this.#options;
    const gang = key === undefined ? undefined : cluster.gang(key);
    return gang !== undefined && gang.started && gang.missing > 0 && !cluster.hasReservationFor(key!);
  }

  #bisection(request: StartRequest, budget: WorkBudget): Bisection {
    return new Bisection({ ...this.#options, request, budget });
  }
}

interface BisectionOptions extends Pick<StartSearchOptions, 'cluster' | 'planner'> {
  readonly request: StartRequest;
  readonly budget: WorkBudget;
}

/** Dry runs in one transaction, which find the fewest pods that have to end. */
class Bisection {
  readonly #options: BisectionOptions;
  readonly #transaction: Transaction;

  constructor(options: BisectionOptions) {
    this.#options = options;
    this.#transaction = options.cluster.begin();
  }

  /**
   * Takes pods out, one list after the other. Returns the smallest number of lists after which the entity fits, and its plan; undefined if it
   * does not fit without all of them. If fewer pods sometimes help more, the number need not be the smallest one.
   */
  *fewest(
    lists: readonly (readonly Ending[])[],
  ): Yielding<{ readonly count: number; readonly nominations: readonly Nomination[] } | undefined> {
    let tooFew = 0;
    let count = lists.length;
    let nominations = yield* this.#planWithout(lists.flat());
    if (nominations === undefined) return undefined;
    while (count - tooFew > 1) {
      const middle = Math.floor((tooFew + count) / 2);
      const plan = yield* this.#planWithout(lists.slice(tooFew, middle).flat());
      if (plan === undefined) {
        tooFew = middle;
      } else {
        nominations = plan;
        count = middle;
      }
    }
    return { count, nominations };
  }

  end(): void {
    this.#transaction.abandon();
  }

  /** Takes these pods out too. If the entity then fits, returns its plan and puts them back. */
  *#planWithout(endings: readonly Ending[]): Yielding<readonly Nomination[] | undefined> {
    const { planner, request, budget } = this.#options;
    const { profile, demand, within, nodeSubsetOf, ignoresReservationOf } = request;
    const { members, needed, signed, gang } = demand;
    const transaction = this.#transaction;
    const savepoints = yield* this.#takeOut(endings);
    const before = transaction.savepoint();
    const plan = yield* planner.steps(
      {
        ...{ profile, members, needed, signed, within, nodeSubsetOf, ignoresReservationOf },
        groupState: gang === undefined ? undefined : new CycleState(),
      },
      transaction,
      budget,
    );
    if (plan.blocked !== undefined) return undefined;
    yield* undoAssignments(profile, plan.assignments, transaction, before, budget);
    yield* this.#putBack(savepoints);
    return plan.assignments.map(({ pod, nodeName }) => ({ pod, nodeName }));
  }

  /** Takes pods out in steps. Returns the savepoint before each step. */
  *#takeOut(endings: readonly Ending[]): Yielding<readonly Savepoint[]> {
    const { budget } = this.#options;
    // Pods of one node together: its contents are then computed once.
    const byNode = [...Map.groupBy(endings, ({ nodeName }) => nodeName).values()].flat();
    budget.spend(endings.length / podsGroupedPerCheck);
    if (budget.isDue) yield;
    const savepoints: Savepoint[] = [];
    for (let start = 0; start < byNode.length; start += takenOutAtATime) {
      savepoints.push(this.#transaction.savepoint());
      const next = byNode.slice(start, start + takenOutAtATime);
      this.#transaction.takeOut(next.map(({ pod }) => pod));
      budget.spend(next.length * workPerPod + countNodes(next) * workPerNode);
      if (budget.isDue) yield;
    }
    return savepoints;
  }

  *#putBack(savepoints: readonly Savepoint[]): Yielding<void> {
    const { budget } = this.#options;
    for (const savepoint of savepoints.toReversed()) {
      this.#transaction.rollbackTo(savepoint);
      budget.spend(takenOutAtATime * workPerPod);
      if (budget.isDue) yield;
    }
  }
}

/** Returns on how many nodes these pods are, given that those of one node are together. */
function countNodes(endings: readonly Ending[]): number {
  let count = 0;
  for (let i = 0; i < endings.length; i++) if (endings[i]!.nodeName !== endings[i - 1]?.nodeName) count++;
  return count;
}

/** Returns the known endings grouped by second, in order of the seconds. */
function* byTime(endings: readonly Ending[], budget: WorkBudget): Yielding<readonly (readonly Ending[])[]> {
  /** second -> its endings */
  const bySecond = new Map<number, Ending[]>();
  for (const ending of endings) {
    budget.spend(1);
    if (budget.isDue) yield;
    if (ending.at === Infinity) continue;
    const second = Math.ceil(ending.at / 1000);
    const known = bySecond.get(second);
    if (known === undefined) bySecond.set(second, [ending]);
    else known.push(ending);
  }
  return Array.from(Float64Array.from(bySecond.keys()).sort(), (second) => bySecond.get(second)!);
}

/**
 * Returns until when pods that start now may run. If those that started beside the reservation end late, that must not let others run for longer:
 * the entity would never start.
 */
function latestFrom(blocking: readonly Ending[], held: Held | undefined): number {
  if (held === undefined) return Infinity;
  let from = held.from;
  for (const { pod, at } of blocking) {
    const startedBefore = pod.startedAt !== 0 && pod.startedAt * 1000 < held.since;
    if (startedBefore || pod.priority > held.priority) from = Math.max(from, at);
  }
  return from;
}

/** Returns the endings of pods on the plan's nodes. */
function inTheWay(endings: readonly Ending[], nominations: readonly Nomination[]): readonly Ending[] {
  const nodes = new Set(nominations.map(({ nodeName }) => nodeName));
  return endings.filter(({ nodeName }) => nodes.has(nodeName));
}
