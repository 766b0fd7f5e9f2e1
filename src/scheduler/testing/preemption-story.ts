import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import { ForbiddenError, isPlainAnswer, isUnclear, ServerError, UnclearOutcomeError } from '../../client/api-errors.ts';
import type { Plugin, PluginFactory, PostFilterResult } from '../../framework/plugin.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { NativePodGroupOptions } from '../../testkit/builders/native-pod-group.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { PodEvictor, PodVerdict, RequestTerms } from '../ports.ts';
import { withoutPreemption, withPreemption } from './preemption-plugins.ts';

export type Verb = 'mark' | 'unmark' | 'delete' | 'evict';

/** Chooses the victims of an entity among all bound pods. Undefined: it preempts nothing. */
export type ChooseVictims = (
  schedulingEntity: SchedulingEntity,
  bound: readonly Pod[],
  handle: PluginHandle,
) => readonly Pod[] | undefined;

/** All bound pods of lower priority. */
const lowerPriority: ChooseVictims = (schedulingEntity, bound) => {
  const pods = schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : [...schedulingEntity.gang.pending.values()];
  const lowest = Math.min(...pods.map(({ priority }) => priority));
  const own = schedulingEntity.kind === 'gang' ? schedulingEntity.gang.members : undefined;
  return bound.filter(({ uid, priority }) => priority < lowest && own?.has(uid) !== true);
};

/**
 * A scheduler with a PostFilter plugin of the test, and an API that keeps what the scheduler writes about victims and nominations. Victims
 * terminate when the test says so.
 */
export class PreemptionStory {
  core: Scheduling;
  /** Requests that the API has carried out: `mark old`, `delete old`, `evict old`, `unmark old`, in order. */
  readonly sent: string[] = [];
  /** marked pod -> the message of its latest mark */
  readonly beneficiaries = new Map<string, string>();
  /** Number of PostFilter calls. */
  asked = 0;
  /** Whether a request waits at the client, so that it may still be withdrawn. Default: none does. */
  holds: (verb: Verb, name: string) => boolean = () => false;
  /** Whether a request that was sent waits at the API, so that it can no longer be withdrawn. Default: none does. */
  delays: (verb: Verb, name: string) => boolean = () => false;
  /** The error with which the API answers. Default: none. */
  fails: (verb: Verb, name: string) => Error | undefined = () => undefined;
  /** Whether the API has carried out the requests that `fails`: the response of an earlier try was lost. Default: it has not. */
  loses: (verb: Verb, name: string) => boolean = () => false;
  /** Whether a disruption budget protects the pod from the Eviction API. Default: none does. */
  protects: (name: string) => boolean = () => false;
  /** Whether the watch does not show yet what a request has changed. Default: it does. */
  hides: (verb: Verb, name: string) => boolean = () => false;
  /** Called before the API carries out a request. If it returns false, the scheduler process has died: nothing happens any more. */
  lives: (verb: Verb | 'verdict', name: string) => boolean = () => true;
  /** Called with the Bindings of an attempt, before they are answered. Returns the names of the pods whose Bindings fail. Default: none does. */
  binding: (names: readonly string[]) => readonly string[] = () => [];
  readonly #choose: ChooseVictims | 'DefaultPreemption';
  readonly #args: object | undefined;
  readonly #extra: readonly Plugin[];
  readonly #nodes = new Map<string, NodeOptions>();
  readonly #groups: PodGroupOptions[] = [];
  readonly #natives: NativePodGroupOptions[] = [];
  /** name -> pod as the API has it */
  readonly #pods = new Map<string, Pod>();
  /** name -> versions that the watch has not shown yet */
  readonly #unseen = new Map<string, Pod[]>();
  #held: (() => void)[] = [];

  /** `args`: the arguments of DefaultPreemption. `extra`: more plugins. */
  constructor(
    choose: ChooseVictims | 'DefaultPreemption' = lowerPriority,
    args?: object,
    extra: readonly Plugin[] = [],
  ) {
    this.#choose = choose;
    this.#args = args;
    this.#extra = extra;
    this.core = this.#newCore('running');
  }

  /** Another process takes over. It sees the state of the API, and no event of before. */
  takeOver(order: 'groups first' | 'pods first' | 'without groups' = 'groups first'): void {
    this.lives = () => true;
    this.#held = [];
    this.#unseen.clear();
    this.core = this.#newCore('listing');
    for (const node of this.#nodes.values()) this.core.node(node);
    if (order === 'groups first') this.#showGroups();
    for (const pod of this.#pods.values()) this.core.show(pod);
    if (order === 'pods first') this.#showGroups();
    this.core.start();
  }

  node(name: string, cpu: number | string, options: NodeOptions = {}): void {
    this.#nodes.set(name, { name, cpu, ...options });
    this.core.node({ name, cpu, ...options });
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.core.removeNode(name);
  }

  group(name: string, minMember: number): void {
    this.#groups.push({ name, minMember });
    this.core.group({ name, minMember });
  }

  /** Adds a PodGroup of Kubernetes itself. */
  nativeGroup(options: NativePodGroupOptions): void {
    this.#natives.push(options);
    this.core.nativeGroup(options);
  }

  #showGroups(): void {
    for (const group of this.#groups) this.core.group(group);
    for (const group of this.#natives) this.core.nativeGroup(group);
  }

  /** Adds a pod of one core. */
  pod(name: string, options: PodOptions = {}): Pod {
    const pod = this.core.harness.build.projectedPod({ name, uid: `${name}-${this.#pods.size}`, cpu: 1, ...options });
    this.#pods.set(name, pod);
    return this.core.show(pod);
  }

  /** Adds `count` members of a group, named `<group>-0` and so on. */
  members(group: string, count: number, options: PodOptions = {}): void {
    for (let i = 0; i < count; i++) this.pod(`${group}-${i}`, { group, ...options });
  }

  change(name: string, change: Partial<Pod>): void {
    this.changeUnseen(name, change);
    this.#showAll(name);
  }

  /** Like `change`, but the watch does not show it yet. */
  changeUnseen(name: string, change: Partial<Pod>): void {
    const pod = { ...this.#pods.get(name)!, ...change };
    this.#pods.set(name, pod);
    this.#unseen.set(name, [...(this.#unseen.get(name) ?? []), pod]);
  }

  #showAll(name: string): void {
    const versions = this.#unseen.get(name) ?? [];
    this.#unseen.delete(name);
    for (const pod of versions) this.core.show(pod);
  }

  /** The pod is gone from the API. */
  remove(name: string): void {
    this.#showAll(name);
    this.core.removePod(this.#pods.get(name)!.uid);
    this.#pods.delete(name);
  }

  /** The kubelets terminate all pods that are being deleted. */
  terminateAll(): void {
    for (const [name, { deleting }] of [...this.#pods]) if (deleting) this.remove(name);
  }

  /** The watch shows everything that it has not shown yet. */
  reveal(): void {
    for (const name of [...this.#unseen.keys()]) this.#showAll(name);
  }

  stored(name: string): Pod | undefined {
    return this.#pods.get(name);
  }

  get pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  /** Sends the requests that wait at the client. `holds`: those that wait from now on. */
  async release(holds: PreemptionStory['holds'] = () => false): Promise<void> {
    this.holds = holds;
    for (const send of this.#held.splice(0)) send();
    await this.core.settle();
  }

  /** Makes attempts until none is due. Bindings succeed unless `binding` says otherwise. Resolves to the results of the attempts. */
  async run(): Promise<string[]> {
    const results: string[] = [];
    for (let result = await this.core.attempt(); result !== undefined; result = await this.core.attempt()) {
      results.push(result);
      await this.#answer();
    }
    await this.#answer();
    return results;
  }

  /** Answers the Bindings that were sent. */
  async #answer(): Promise<void> {
    if (this.core.binds.length === 0) return;
    const failing = this.binding(this.core.binds.map(({ binding }) => binding.name));
    for (const { binding } of [...this.core.binds]) {
      if (failing.includes(binding.name) || !this.#pods.has(binding.name)) {
        await this.core.reject(binding.name, 'refused');
        continue;
      }
      await this.core.accept(binding.name);
      this.change(binding.name, { nodeName: binding.nodeName, nominatedNodeName: '', phase: 'Running' });
    }
  }

  async after(seconds: number): Promise<string[]> {
    this.core.harness.clock.advance(seconds * 1000);
    await this.core.settle();
    return this.run();
  }

  /** pod -> node that is reserved for it */
  get reserved(): Record<string, string> {
    const all = [...this.core.harness.cluster.reservations()];
    return Object.fromEntries(all.map(({ owner, nodeName }) => [owner.name, nodeName]));
  }

  /** The latest verdict on this pod. */
  verdictOn(name: string): string {
    return this.core.harness.core.verdictOf(this.#pods.get(name)!.uid)?.message ?? '';
  }

  /** pod -> node, for bound pods that are not being deleted */
  get bound(): Record<string, string> {
    const bound = this.pods.filter(({ nodeName, deleting }) => nodeName !== '' && !deleting);
    return Object.fromEntries(bound.map(({ name, nodeName }) => [name, nodeName]));
  }

  metric(name: string): Promise<readonly { readonly value: number; readonly labels: object }[]> {
    return this.core.harness.registry
      .getSingleMetric(name)!
      .get()
      .then(({ values }) => values);
  }

  #newCore(phase: 'listing' | 'running'): Scheduling {
    const choose = this.#choose;
    const plugins: readonly { readonly name: string; readonly factory: PluginFactory }[] =
      choose === 'DefaultPreemption'
        ? withPreemption(this.#args ?? {})
        : [...withoutPreemption, { name: 'Preempting', factory: (_args, handle) => this.#preempting(choose, handle) }];
    const verdicts = { write: (pod: Pod, verdict: PodVerdict) => this.#write(pod, verdict) };
    return new Scheduling({ plugins, extra: this.#extra, ports: { evictor: this.#evictor(), verdicts } }, phase);
  }

  #preempting(choose: ChooseVictims, handle: PluginHandle): Plugin {
    const postFilter = (schedulingEntity: SchedulingEntity): PostFilterResult | undefined => {
      this.asked++;
      const bound = [...handle.cluster.pods()].filter((pod) => handle.cluster.nodeOf(pod) !== undefined);
      const victims = choose(schedulingEntity, bound, handle);
      if (victims === undefined) return undefined;
      const { fits, plan } = handle.dryRun(schedulingEntity, { without: victims });
      if (!fits) return { message: 'Preemption does not help.' };
      return { message: 'Preempts pods.', nominations: plan, victims };
    };
    return { name: 'Preempting', postFilter };
  }

  #evictor(): Partial<PodEvictor> {
    return {
      mark: async (pod, message, terms) => {
        this.beneficiaries.set(pod.name, message);
        const preemptionMark = { schedulerName: message.slice(0, message.indexOf(':')), since: Date.UTC(2100, 0) };
        await this.#request('mark', pod, terms, { preemptionMark, disruptedBy: 'PreemptionByScheduler' });
        return this.#pods.get(pod.name)?.uid === pod.uid;
      },
      unmark: (pod, _message, terms) =>
        this.#request('unmark', pod, terms, { preemptionMark: undefined, disruptedBy: undefined }),
      evict: (pod, terms) => this.#request('delete', pod, terms, { deleting: true }),
      release: async (pod, terms) => {
        const isProtected = this.protects(pod.name);
        await this.#request('evict', pod, terms, isProtected ? undefined : { deleting: true });
        return isProtected ? 'protected' : 'going';
      },
    };
  }

  async #request(verb: Verb, pod: Pod, terms: RequestTerms, change?: Partial<Pod>): Promise<void> {
    const { core } = this;
    const { name, uid } = pod;
    if (this.holds(verb, name)) await new Promise<void>((resolve) => this.#held.push(resolve));
    terms.signal.throwIfAborted();
    terms.mayBeSent();
    if (this.delays(verb, name)) await new Promise<void>((resolve) => this.#held.push(resolve));
    await Promise.resolve();
    if (core !== this.core || !this.lives(verb, name)) await new Promise(() => undefined);
    const error = this.fails(verb, name);
    const isDone = error === undefined || this.loses(verb, name);
    if (!isDone) return this.#reject(error, verb, pod, terms.mayBeDone === true);
    if (this.#pods.get(name)?.uid === uid && change !== undefined) {
      this.sent.push(`${verb} ${name}`);
      if (this.hides(verb, name)) this.changeUnseen(name, change);
      else this.change(name, change);
    }
    if (error !== undefined) this.#reject(error, verb, pod, true);
  }

  /** Rejects as a PodEvictor does. It reads back a pod whose delete may have been carried out, which never fails here. */
  #reject(error: Error, verb: Verb, { name, uid }: Pod, mayBeDone: boolean): void {
    const isRemoval = verb === 'delete' || verb === 'evict';
    if (isUnclear(error) || (mayBeDone && !isRemoval)) throw new UnclearOutcomeError(error);
    const now = this.#pods.get(name);
    const isGoing = now?.uid !== uid || now.deleting;
    if (!isRemoval || !mayBeDone || !isGoing || !isPlainAnswer(error)) throw error;
  }

  async #write(pod: Pod, { reason, message, nominatedNodeName }: PodVerdict): Promise<'written'> {
    await Promise.resolve();
    if (!this.lives('verdict', pod.name)) await new Promise(() => undefined);
    if (this.#pods.get(pod.name)?.uid !== pod.uid) return 'written';
    const podScheduled = { status: 'False', reason, message } satisfies Pod['podScheduled'] & Partial<Verdict>;
    this.change(pod.name, { podScheduled, ...(nominatedNodeName !== undefined && { nominatedNodeName }) });
    return 'written';
  }
}

const answer = { reason: '', request: '', causes: [] };

/** The answer to a request that the API may have carried out. */
export function lost(): Error {
  return new ServerError('no answer', { status: 500, ...answer });
}

/** The answer to a request that the API has not carried out. */
export function refused(): Error {
  return new ForbiddenError('not allowed', { status: 403, ...answer });
}

/** Gang `low` of pods of one core fills node a, and needs all of them by default. `args`: the arguments of DefaultPreemption. */
export function gangFillsNode(
  size: number,
  { minMember = size, args }: { readonly minMember?: number; readonly args?: object } = {},
): PreemptionStory {
  return fillNode(new PreemptionStory('DefaultPreemption', args), size, minMember);
}

/** Gang `low` of four runs on one node. */
export function oneGang(minMember = 4): PreemptionStory {
  return fillNode(new PreemptionStory(), 4, minMember);
}

function fillNode(story: PreemptionStory, size: number, minMember: number): PreemptionStory {
  story.node('a', size);
  story.group('low', minMember);
  story.members('low', size, { nodeName: 'a' });
  return story;
}
