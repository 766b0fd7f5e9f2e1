import { messageOf } from '../../base/message-of.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Extender, ExtenderFilterResult, WholePod } from '../../framework/extender.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Demand } from '../placement/planning/demand.ts';
import { feasibleNodes } from '../placement/planning/feasible-nodes.ts';
import { nothingAllowed } from '../placement/cache/node-subset.ts';
import type { NodeSubset } from '../placement/cache/node-subset.ts';
import type { Planner } from '../placement/planning/planner.ts';
import { workPerMember } from '../../framework/work-per-member.ts';
import type { ExtenderPort } from '../ports.ts';

/** What extenders are asked: where may pods like this one run, of these nodes? */
export interface ExtenderRequest {
  /** What pods that it speaks for have in common. */
  readonly kind: string;
  /** One of them. */
  readonly pod: Pod;
  readonly nodes: readonly Node[];
}

/** kind -> what extenders said */
export type ExtenderResults = ReadonlyMap<string, NodeSubset>;

export interface ExtendersOptions {
  readonly port: ExtenderPort;
  readonly cluster: Cluster;
  readonly planner: Planner;
  readonly logger: Logger;
}

/** An extender that may not be ignored, or the API server, gave no answer; `status` says which and why. */
export class ExtenderFailure extends Error {
  override readonly name = 'ExtenderFailure';
  readonly status: Status;

  constructor(status: Status) {
    super(status.message, { cause: status.cause });
    this.status = status;
  }
}

/** A plugin's score ends at 100, an extender's at 10. */
const scoreFactor = 10;
/** Kinds of one entity that are asked about at a time. */
const classesAtOnce = 8;
/** Different reasons of one extender that a verdict keeps; some name the node in each. */
const reasonLimit = 5;
const reasonLength = 200;

/**
 * Which pods extenders have a say in, and what they say. In order, as kube-scheduler does it: each is asked to filter the
 * nodes that the one before left, then all are asked to prioritise what is left.
 */
export class Extenders {
  readonly #options: ExtendersOptions;
  readonly #all: readonly Extender[];
  /** extender -> names of the resources that make a pod its business; undefined: all pods are */
  readonly #managed = new Map<Extender, ReadonlySet<string> | undefined>();

  constructor(options: ExtendersOptions) {
    this.#options = options;
    this.#all = options.port.extenders;
    for (const extender of this.#all) {
      const { managedResources } = extender;
      this.#managed.set(extender, managedResources.length === 0 ? undefined : new Set(managedResources));
    }
  }

  /** Somebody is to be asked about one of these pods. */
  concern(pods: Iterable<Pod>): boolean {
    return this.#some(pods, (each) => each.filter !== undefined || each.prioritize !== undefined);
  }

  /** Somebody may reject nodes to one of these pods, so what the plugins agree to is not yet so. */
  mayReject(pods: Iterable<Pod>): boolean {
    return this.#some(pods, (each) => each.filter !== undefined);
  }

  /** What to ask for these members: one question for each kind. Reads the picture as it is. Throws what a plugin fails with. */
  *requests(profile: Profile, { members, gang }: Demand, budget: WorkBudget): Yielding<readonly ExtenderRequest[]> {
    const { cluster, planner } = this.#options;
    const groupState = gang === undefined ? undefined : new CycleState();
    const requests = new Map<string, ExtenderRequest>();
    /** what makes pods alike to the plugins -> the nodes for them */
    const known = new Map<string, readonly Node[]>();
    // Nothing is changed in it; while it is open nobody can make a trial.
    const transaction = cluster.begin();
    try {
      for (const pod of members) {
        if (!this.concern([pod])) continue;
        budget.spend(workPerMember);
        if (budget.isDue) yield;
        const kind = this.#kindOf(profile, pod);
        if (requests.has(kind)) continue;
        const { whole: signature } = planner.signaturesOf(profile, pod);
        let nodes = signature === undefined ? undefined : known.get(signature);
        if (nodes === undefined) {
          nodes = feasibleNodes(cluster, profile, pod, groupState).map(({ node }) => node);
          budget.spend(cluster.nodes.length * (1 + profile.localFilters.length + profile.otherFilters.length));
        }
        if (signature !== undefined) known.set(signature, nodes);
        requests.set(kind, { kind, pod, nodes });
      }
    } finally {
      transaction.rollback();
    }
    return [...requests.values()];
  }

  /** What was said about this pod; undefined: nobody has a say. */
  nodeSubsetOf(answers: ExtenderResults, profile: Profile, pod: Pod): NodeSubset | undefined {
    if (!this.concern([pod])) return undefined;
    return answers.get(this.#kindOf(profile, pod)) ?? nothingAllowed;
  }

  /** Some of these pods are like none that was asked about. */
  lack(answers: ExtenderResults, profile: Profile, pods: readonly Pod[]): boolean {
    return pods.some((pod) => this.concern([pod]) && !answers.has(this.#kindOf(profile, pod)));
  }

  /** Asks. Rejects with ExtenderFailure, or with the signal's reason. */
  async ask(requests: readonly ExtenderRequest[], signal: AbortSignal): Promise<ExtenderResults> {
    const answers = new Map<string, NodeSubset>();
    const giveUp = new AbortController();
    const either = AbortSignal.any([signal, giveUp.signal]);
    const rest = requests.values();
    let failure: { readonly error: unknown } | undefined;
    const askOn = async (): Promise<void> => {
      try {
        for (const request of rest) answers.set(request.kind, await this.#answer(request, either));
      } catch (error) {
        failure ??= { error };
        giveUp.abort(new Error('another question failed'));
      }
    };
    await Promise.all(Array.from({ length: Math.min(classesAtOnce, requests.length) }, askOn));
    if (failure !== undefined) throw failure.error;
    return answers;
  }

  /** Binds the pod if that is an extender's business. False: it is the plugins'. A Status: it failed. */
  async bind(pod: Pod, binding: PodBinding, signal: AbortSignal): Promise<Status | boolean> {
    for (const extender of this.#all) {
      if (extender.bind === undefined || !this.#isInterested(extender, pod)) continue;
      try {
        await extender.bind(binding, signal);
        return true;
      } catch (error) {
        if (error instanceof WithdrawnError) return new Status('Unschedulable', error.message, extender.name, error);
        if (!extender.isIgnorable || signal.aborted) return failed(extender, 'bind', error);
        this.#passOver(extender, 'bind', pod, error);
      }
    }
    return false;
  }

  async #answer({ pod, nodes }: ExtenderRequest, signal: AbortSignal): Promise<NodeSubset> {
    const rejected = new Map<string, Status>();
    if (nodes.length === 0) return { allowed: new Map(), rejected };
    const whole = await this.#whole(pod, signal);
    const interested = this.#all.filter((extender) => this.#isInterested(extender, pod));
    let left = nodes;
    for (const extender of interested) {
      if (extender.filter === undefined || left.length === 0) continue;
      const result = await this.#filter(extender, pod, whole, left, signal);
      if (result === undefined) continue;
      const reasons = new Reasons(extender);
      for (const { name } of left) if (!result.passed.has(name)) rejected.set(name, reasons.of(name, result));
      left = left.filter(({ name }) => result.passed.has(name));
    }
    const allowed = new Map(left.map(({ name }) => [name, 0]));
    // With one node left there is no choice.
    if (left.length > 1) {
      const scores = await Promise.all(
        interested.map(async (extender) => ({
          weight: extender.weight,
          scores: await this.#prioritize(extender, pod, whole, left, signal),
        })),
      );
      for (const { weight, scores: given } of scores) {
        for (const [name, score] of given) {
          const sum = allowed.get(name);
          if (sum !== undefined) allowed.set(name, sum + score * weight * scoreFactor);
        }
      }
    }
    return { allowed, rejected };
  }

  async #whole(pod: Pod, signal: AbortSignal): Promise<WholePod> {
    try {
      return await this.#options.port.whole(pod, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new ExtenderFailure(
        new Status('Error', `pod ${pod.key} could not be read for the extenders: ${messageOf(error)}`, '', error),
      );
    }
  }

  /** Undefined when it failed and may be ignored. */
  async #filter(
    extender: Extender,
    pod: Pod,
    whole: WholePod,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<ExtenderFilterResult | undefined> {
    try {
      return await extender.filter!(whole, nodes, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!extender.isIgnorable) throw new ExtenderFailure(failed(extender, 'filter', error));
      this.#passOver(extender, 'filter', pod, error);
      return undefined;
    }
  }

  /** Without its scores a pod can be scheduled as well, so it is never a reason to fail. */
  async #prioritize(
    extender: Extender,
    pod: Pod,
    whole: WholePod,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, number>> {
    if (extender.prioritize === undefined) return new Map();
    try {
      return await extender.prioritize(whole, nodes, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#passOver(extender, 'prioritize', pod, error);
      return new Map();
    }
  }

  #passOver({ name }: Extender, verb: string, pod: Pod, error: unknown): void {
    this.#options.logger.warn('extender failed; the pod is scheduled without it', {
      extender: name,
      verb,
      pod: pod.key,
      reason: messageOf(error),
    });
  }

  #some(pods: Iterable<Pod>, does: (extender: Extender) => boolean): boolean {
    for (const pod of pods) {
      if (this.#all.some((extender) => does(extender) && this.#isInterested(extender, pod))) return true;
    }
    return false;
  }

  #isInterested(extender: Extender, pod: Pod): boolean {
    const managed = this.#managed.get(extender);
    if (managed === undefined) return true;
    const { resources } = this.#options.cluster;
    // The API server makes a request of every limit that has none.
    return pod.template.requests.ids.some((id) => managed.has(resources.nameOf(id)));
  }

  /** Pods of one kind are alike to the plugins, in one namespace and group, with the same labels and priority. */
  #kindOf(profile: Profile, pod: Pod): string {
    const { whole } = this.#options.planner.signaturesOf(profile, pod);
    const labels = Object.entries(pod.labels).sort(([a], [b]) => (a < b ? -1 : 1));
    // In an array, so that no signature reads like a uid.
    const signature = whole === undefined ? pod.uid : [whole];
    return JSON.stringify([signature, pod.namespace, pod.podGroupKey, pod.priority, labels]);
  }
}

/** An extender's reasons as statuses, few enough for a verdict. */
class Reasons {
  readonly #extender: Extender;
  /** code and what it said -> the status */
  readonly #statuses = new Map<string, Status>();

  constructor(extender: Extender) {
    this.#extender = extender;
  }

  of(nodeName: string, { failed: passing, unresolvable }: ExtenderFilterResult): Status {
    const forGood = unresolvable.get(nodeName);
    const code = forGood === undefined ? 'Unschedulable' : 'UnschedulableAndUnresolvable';
    const text = (forGood ?? passing.get(nodeName) ?? '').replace(/\s+/g, ' ').trim().slice(0, reasonLength);
    return this.#status(code, text === '' ? 'gave no reason' : text);
  }

  #status(code: 'Unschedulable' | 'UnschedulableAndUnresolvable', text: string): Status {
    const key = `${code} ${text}`;
    const known = this.#statuses.get(key);
    if (known !== undefined) return known;
    if (this.#statuses.size >= reasonLimit && text !== 'other reasons') return this.#status(code, 'other reasons');
    const { name } = this.#extender;
    const status = new Status(code, `extender ${name}: ${text}`, name);
    this.#statuses.set(key, status);
    return status;
  }
}

function failed({ name }: Extender, verb: string, error: unknown): Status {
  return new Status('Error', `extender ${name} failed in ${verb}: ${messageOf(error)}`, name, error);
}
