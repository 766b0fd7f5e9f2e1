import { messageOf } from '../../base/message-of.ts';
import { redactedText } from '../../base/safe-text.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Extender, ExtenderFilterResult, WholePod } from '../../framework/extender.ts';
import { withoutNodeNames } from '../../framework/names-for-users.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Demand } from '../placement/planning/demand.ts';
import { feasibleNodes } from '../placement/planning/feasible-nodes.ts';
import { nothingAllowed } from '../placement/cache/node-subset.ts';
import type { NodeSubset, NodeSubsetOf } from '../placement/cache/node-subset.ts';
import { workPerMember } from '../../framework/work-per-member.ts';
import type { ExtenderPort } from '../ports.ts';

/** A request to the extenders: which of these nodes can run pods of this class? */
export interface ExtenderRequest {
  /** Key of the pod class. */
  readonly classKey: string;
  /** One pod of the class. */
  readonly pod: Pod;
  readonly nodes: readonly Node[];
}

/** pod class key -> the extenders' result */
export type ExtenderResults = ReadonlyMap<string, NodeSubset>;

export interface ExtendersOptions {
  readonly port: ExtenderPort;
  readonly cluster: Cluster;
  readonly logger: Logger;
}

/** A required extender or the API server failed; `status` names it and gives the reason. */
export class ExtenderFailure extends Error {
  override readonly name = 'ExtenderFailure';
  readonly status: Status;

  constructor(status: Status) {
    super(status.message, { cause: status.cause });
    this.status = status;
  }
}

/** Plugin scores go up to 100, extender scores up to 10. */
const scoreFactor = 10;
/** Maximum number of pod classes of one entity to request at a time. */
const maxConcurrentClasses = 8;
/** Maximum number of different reasons of one extender in a verdict; some extenders name the node in each reason. */
const maxReasons = 5;
/** With `maxReasons` of this length, a verdict shows all of them. */
const maxReasonLength = 150;

/**
 * Decides which pods the extenders handle, and calls them in kube-scheduler's order. Each extender filters the nodes that the
 * previous one left. Then all of them prioritize the remaining nodes.
 */
export class Extenders {
  readonly #options: ExtendersOptions;
  readonly #all: readonly Extender[];
  /** extender -> names of the resources that make it responsible for a pod; undefined: it handles all pods */
  readonly #managed = new Map<Extender, ReadonlySet<string> | undefined>();
  readonly #isNode = (name: string): boolean => this.#options.cluster.node(name) !== undefined;

  constructor(options: ExtendersOptions) {
    this.#options = options;
    this.#all = options.port.extenders;
    for (const extender of this.#all) {
      const { managedResources } = extender;
      this.#managed.set(extender, managedResources.length === 0 ? undefined : new Set(managedResources));
    }
  }

  /** Returns whether an extender filters or prioritizes nodes for any of these pods. */
  concern(pods: Iterable<Pod>): boolean {
    return this.#some(pods, (each) => each.filter !== undefined || each.prioritize !== undefined);
  }

  /** Returns whether an extender may reject nodes for any of these pods, so that the plugins' result is not final. */
  mayReject(pods: Iterable<Pod>): boolean {
    return this.#some(pods, (each) => each.filter !== undefined);
  }

  /**
   * Returns one request per pod class of these members. Reads the current cluster state. Throws the failure of a plugin.
   */
  *requests(profile: Profile, { members, gang }: Demand, budget: WorkBudget): Yielding<readonly ExtenderRequest[]> {
    const { cluster } = this.#options;
    const groupState = gang === undefined ? undefined : new CycleState();
    const requests = new Map<string, ExtenderRequest>();
    /** signature -> feasible nodes */
    const nodesBySignature = new Map<string, readonly Node[]>();
    // The transaction changes nothing. While it is open, no dry run can start.
    const transaction = cluster.begin();
    try {
      for (const pod of members) {
        if (!this.concern([pod])) continue;
        budget.spend(workPerMember);
        if (budget.isDue) yield;
        const classKey = this.#classKeyOf(profile, pod);
        if (requests.has(classKey)) continue;
        const { whole: signature } = profile.signaturesOf(pod);
        let nodes = signature === undefined ? undefined : nodesBySignature.get(signature);
        if (nodes === undefined) {
          nodes = feasibleNodes(cluster, profile, pod, groupState).map(({ node }) => node);
          budget.spend(cluster.nodes.length * (1 + profile.localFilters.length + profile.otherFilters.length));
        }
        if (signature !== undefined) nodesBySignature.set(signature, nodes);
        requests.set(classKey, { classKey, pod, nodes });
      }
    } finally {
      transaction.rollback();
    }
    return [...requests.values()];
  }

  /** Returns the extenders' result for this pod; undefined if no extender handles it. */
  nodeSubsetOf(results: ExtenderResults, profile: Profile, pod: Pod): NodeSubset | undefined {
    if (!this.concern([pod])) return undefined;
    return results.get(this.#classKeyOf(profile, pod)) ?? nothingAllowed;
  }

  /** Returns for each pod all nodes except those that the extenders rejected. They may not have been asked about the other nodes. */
  notRejected(results: ExtenderResults, profile: Profile): NodeSubsetOf {
    const { nodes } = this.#options.cluster;
    /** result for a pod class -> the nodes that it does not reject */
    const subsets = new Map<NodeSubset, NodeSubset>();
    return (pod) => {
      const result = results.get(this.#classKeyOf(profile, pod));
      if (result === undefined || subsets.has(result)) return result && subsets.get(result);
      const { rejected } = result;
      const left = nodes.filter(({ name }) => !rejected.has(name));
      const subset = { allowed: new Map(left.map(({ name }) => [name, 0])), rejected };
      subsets.set(result, subset);
      return subset;
    };
  }

  /** Returns whether the results lack the pod class of any of these pods. */
  areIncompleteFor(results: ExtenderResults, profile: Profile, pods: readonly Pod[]): boolean {
    return pods.some((pod) => this.concern([pod]) && !results.has(this.#classKeyOf(profile, pod)));
  }

  /** Sends the requests. Rejects with ExtenderFailure, or with the signal's reason. */
  async call(requests: readonly ExtenderRequest[], signal: AbortSignal): Promise<ExtenderResults> {
    const results = new Map<string, NodeSubset>();
    const failureAbort = new AbortController();
    const anySignal = AbortSignal.any([signal, failureAbort.signal]);
    const remaining = requests.values();
    let failure: { readonly error: unknown } | undefined;
    const callNext = async (): Promise<void> => {
      try {
        for (const request of remaining) results.set(request.classKey, await this.#callForClass(request, anySignal));
      } catch (error) {
        failure ??= { error };
        failureAbort.abort(new Error('another extender request failed'));
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxConcurrentClasses, requests.length) }, callNext));
    if (failure !== undefined) throw failure.error;
    return results;
  }

  /**
   * Binds the pod if an extender is responsible for that. Returns false if plugins must bind it, or a Status if the call failed.
   */
  async bind(pod: Pod, binding: PodBinding, signal: AbortSignal): Promise<Status | boolean> {
    for (const extender of this.#all) {
      if (extender.bind === undefined || !this.#isInterested(extender, pod)) continue;
      try {
        await extender.bind(binding, signal);
        return true;
      } catch (error) {
        if (error instanceof WithdrawnError) return new Status('Unschedulable', error.message, extender.name, error);
        if (!extender.isIgnorable || signal.aborted) return this.#failed(extender, 'bind', error);
        this.#logSkipped(extender, 'bind', pod, error);
      }
    }
    return false;
  }

  async #callForClass({ pod, nodes }: ExtenderRequest, signal: AbortSignal): Promise<NodeSubset> {
    const rejected = new Map<string, Status>();
    if (nodes.length === 0) return { allowed: new Map(), rejected };
    const wholePod = await this.#wholePod(pod, signal);
    const interested = this.#all.filter((extender) => this.#isInterested(extender, pod));
    let left = nodes;
    for (const extender of interested) {
      if (extender.filter === undefined || left.length === 0) continue;
      const result = await this.#filter(extender, pod, wholePod, left, signal);
      if (result === undefined) continue;
      const reasons = new Reasons(extender, this.#isNode);
      for (const { name } of left) if (!result.passed.has(name)) rejected.set(name, reasons.of(name, result));
      left = left.filter(({ name }) => result.passed.has(name));
    }
    const allowed = new Map(left.map(({ name }) => [name, 0]));
    // With one node left there is no choice.
    if (left.length > 1) {
      const scores = await Promise.all(
        interested.map(async (extender) => ({
          weight: extender.weight,
          scores: await this.#prioritize(extender, pod, wholePod, left, signal),
        })),
      );
      for (const { weight, scores: extenderScores } of scores) {
        for (const [name, score] of extenderScores) {
          const sum = allowed.get(name);
          if (sum !== undefined) allowed.set(name, sum + score * weight * scoreFactor);
        }
      }
    }
    return { allowed, rejected };
  }

  async #wholePod(pod: Pod, signal: AbortSignal): Promise<WholePod> {
    try {
      return await this.#options.port.whole(pod, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new ExtenderFailure(
        new Status('Error', `cannot read pod ${pod.key} for the extenders: ${messageOf(error)}`, '', error),
      );
    }
  }

  /** Returns undefined if an ignorable extender failed. */
  async #filter(
    extender: Extender,
    pod: Pod,
    wholePod: WholePod,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<ExtenderFilterResult | undefined> {
    try {
      return await extender.filter!(wholePod, nodes, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!extender.isIgnorable) throw new ExtenderFailure(this.#failed(extender, 'filter', error));
      this.#logSkipped(extender, 'filter', pod, error);
      return undefined;
    }
  }

  /** Never fails, because a pod can be scheduled without the extender's scores. */
  async #prioritize(
    extender: Extender,
    pod: Pod,
    wholePod: WholePod,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, number>> {
    if (extender.prioritize === undefined) return new Map();
    try {
      return await extender.prioritize(wholePod, nodes, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#logSkipped(extender, 'prioritize', pod, error);
      return new Map();
    }
  }

  #logSkipped({ name }: Extender, verb: string, pod: Pod, error: unknown): void {
    this.#options.logger.warn('extender failed; scheduling the pod without it', {
      extender: name,
      verb,
      pod: pod.key,
      reason: messageOf(error),
    });
  }

  #some(pods: Iterable<Pod>, isRelevant: (extender: Extender) => boolean): boolean {
    for (const pod of pods) {
      if (this.#all.some((extender) => isRelevant(extender) && this.#isInterested(extender, pod))) return true;
    }
    return false;
  }

  #isInterested(extender: Extender, pod: Pod): boolean {
    const managed = this.#managed.get(extender);
    if (managed === undefined) return true;
    const { resources } = this.#options.cluster;
    // The API server defaults a missing request to the limit.
    return pod.template.requests.ids.some((id) => managed.has(resources.nameOf(id)));
  }

  /**
   * Returns the key of the pod's class: pods that the plugins treat alike, in one namespace and group, with the same labels and
   * priority.
   */
  #classKeyOf(profile: Profile, pod: Pod): string {
    const { whole } = profile.signaturesOf(pod);
    const labels = Object.entries(pod.labels).sort(([a], [b]) => (a < b ? -1 : 1));
    // The array keeps a signature from looking like a uid.
    const signature = whole === undefined ? pod.uid : [whole];
    return JSON.stringify([signature, pod.namespace, pod.podGroupKey, pod.priority, labels]);
  }

  #failed({ name }: Extender, verb: string, error: unknown): Status {
    const text = withoutNodeNames(messageOf(error), this.#isNode);
    return new Status('Error', `extender ${name} failed in ${verb}: ${text}`, name, error);
  }
}

/** An extender's reasons as statuses, few enough for a verdict. */
class Reasons {
  readonly #extender: Extender;
  readonly #isNode: (name: string) => boolean;
  /** code and reason -> status */
  readonly #statuses = new Map<string, Status>();

  constructor(extender: Extender, isNode: (name: string) => boolean) {
    this.#extender = extender;
    this.#isNode = isNode;
  }

  of(nodeName: string, { failed: resolvable, unresolvable }: ExtenderFilterResult): Status {
    const unresolvableReason = unresolvable.get(nodeName);
    const code = unresolvableReason === undefined ? 'Unschedulable' : 'UnschedulableAndUnresolvable';
    const reason = unresolvableReason ?? resolvable.get(nodeName) ?? '';
    const text = redactedText(withoutNodeNames(reason, this.#isNode).replace(/\s+/g, ' ').trim(), maxReasonLength);
    return this.#status(code, text === '' ? 'gave no reason' : text);
  }

  #status(code: 'Unschedulable' | 'UnschedulableAndUnresolvable', text: string): Status {
    const key = `${code} ${text}`;
    const known = this.#statuses.get(key);
    if (known !== undefined) return known;
    if (this.#statuses.size >= maxReasons && text !== 'other reasons') return this.#status(code, 'other reasons');
    const { name } = this.#extender;
    const status = new Status(code, { text: `extender ${name}: ${text}`, code: 'RejectedByExtender' }, name);
    this.#statuses.set(key, status);
    return status;
  }
}
