import { projectListed } from '../../api/listed-object.ts';
import type { Explanation, Remedy, Shortage } from '../../api/explain/explanation.ts';
import type { VolumeWriter } from '../../framework/plugin-handle.ts';
import { pluginRegistry } from '../../plugins/registry.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { CoreHarnessOptions } from '../../testkit/core-harness.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { ExplanationPart } from '../explain/explainer.ts';
import { AskedExtenders } from './asked-extender.ts';
import { drawCluster } from './drawn-cluster.ts';
import type { DrawnCluster } from './drawn-cluster.ts';
import { otherPlugins } from './other-plugins.ts';

const second = 1_000;
/** Version of an object of storage that the scheduler has written. */
const laterVersion = '1000';

/** The API server accepts each write of a volume, and no controller reacts. */
const acceptsAll: VolumeWriter = {
  bind: () => Promise.resolve(laterVersion),
  provision: () => Promise.resolve(laterVersion),
};
/** No pod of a cluster evicts pods of this priority. */
const highest = 1_000_000;

/** Options of a scheduler with the profiles of the cluster. */
export function setupOf({ profiles }: DrawnCluster): Pick<CoreHarnessOptions, 'plugins' | 'setup'> {
  return { plugins: [], setup: { profiles, plugins: new Map([...pluginRegistry, ...otherPlugins]) } };
}

/** Adds nodes, running pods and objects of storage. */
export function addBasics(
  scheduling: Scheduling,
  { nodes, running, storage }: Pick<DrawnCluster, 'nodes' | 'running' | 'storage'>,
): void {
  let version = 0;
  for (const { kind, raw } of storage.objects) {
    const metadata = { ...raw.metadata, resourceVersion: String(++version) };
    scheduling.harness.core.handlers.listed.onAdd(projectListed(kind, { ...raw, metadata }));
  }
  for (const node of nodes) scheduling.node(node);
  for (const pod of running) scheduling.pod(pod);
}

/** Adds a pod on each node that is to make way for another, which needs most of the node. */
export function addPreemptors(scheduling: Scheduling, { nodes }: Pick<DrawnCluster, 'nodes'>): void {
  for (const { name, cpu } of nodes) {
    scheduling.pod({ name: `low-${name}`, nodeName: name!, cpu: 0.5, priority: -20 });
    const nodeSelector = { 'kubernetes.io/hostname': name! };
    const tolerations = [{ operator: 'Exists' as const }];
    scheduling.pod({ name: `vip-${name}`, cpu: Number(cpu) - 0.25, priority: 100, nodeSelector, tolerations });
  }
}

/** A cluster drawn from a seed, in which one group, `gang`, is tried once. */
export class ExplainedCluster {
  readonly scheduling: Scheduling;
  readonly draw: DrawnCluster;
  /** The latest attempt of the group started a preemption, so that a plan of now differs from that of the verdict. */
  #hasPreempted = false;
  /** The cluster has changed since the latest attempt of the group. */
  #hasChanged = false;
  readonly #extenders: AskedExtenders | undefined;
  #hasBegun = false;
  /** The quorum of the group was planned once. Bindings are never accepted, and no controller binds volumes. */
  #hasStarted = false;

  constructor(draw: DrawnCluster) {
    this.draw = draw;
    this.#extenders = draw.before === 'extender' ? new AskedExtenders({}) : undefined;
    this.scheduling = new Scheduling({
      ...setupOf(draw),
      ports: {
        volumes: acceptsAll,
        ...(this.#extenders !== undefined && { extenders: this.#extenders }),
      },
    });
  }

  static of(seed: number): ExplainedCluster {
    return new ExplainedCluster(drawCluster(seed));
  }

  /** Makes attempts until none is due. Returns whether the group has started. */
  async run(): Promise<boolean> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      await this.#begin();
    }
    await this.#attemptAll();
    return this.#hasStarted;
  }

  /** Number of pods that are planned. */
  get planned(): number {
    return this.scheduling.harness.cluster.assumedCount;
  }

  /** Capacity is reserved for an entity that comes first. */
  get waitsForTurn(): boolean {
    return this.explain().verdict?.reason === 'WaitingForTurn';
  }

  /** A plan of now is that of the verdict. */
  get isVerdictCurrent(): boolean {
    return !this.#hasPreempted && !this.#hasChanged;
  }

  explain(): ExplanationPart {
    return this.scheduling.harness.core.explainNow({ namespace: 'default', name: 'gang' })!;
  }

  /** Makes this change. */
  change(remedy: Remedy): void {
    const { scheduling } = this;
    const { nodes, members } = this.draw;
    switch (remedy.kind) {
      case 'podsEnd':
        for (const { uid } of remedy.pods) scheduling.removePod(uid!);
        break;
      case 'uncordon':
        for (const node of nodes)
          if (remedy.nodes.includes(node.name!)) scheduling.node({ ...node, unschedulable: false });
        break;
      case 'addNodes': {
        const like = [...nodes, failing].find(({ name }) => name === remedy.like)!;
        for (let i = 0; i < remedy.count; i++) scheduling.node(copyOf(like, `more-${i}`));
        break;
      }
      case 'lowerMinMember':
        this.#addGroup(remedy.to);
        break;
      case 'raisePriority':
        for (const member of members) {
          if (member.nodeName !== undefined) continue;
          scheduling.removePod(member.name!);
          scheduling.pod({ ...member, uid: `${member.name}-again`, priority: remedy.above + 1 });
        }
    }
  }

  /** Makes attempts after a change, and lets victims of preemption terminate, time after time. */
  async afterEvictions(): Promise<boolean> {
    const { scheduling } = this;
    const { evicted, clock } = scheduling.harness;
    for (let round = 0; round < 5; round++) {
      clock.advance(20 * second);
      if (await this.run()) return true;
      for (const name of evicted) if (scheduling.has(name)) scheduling.removePod(name);
    }
    return this.run();
  }

  get nodeCount(): number {
    return this.draw.nodes.length;
  }

  async #begin(): Promise<void> {
    const { scheduling, draw } = this;
    const { before, nodes } = draw;
    if (before === 'binding') await this.#failToBind();
    addBasics(scheduling, draw);
    if (before === 'nomination') addPreemptors(scheduling, draw);
    if (before === 'repair') await this.#loseMember();
    if (before === 'turn') await this.#waitForTurn();
    if (before === 'admission') for (const { name } of nodes) if (name !== 'n0') this.#failToAdmit(name!);
    await this.#attemptAll();
    if (before === 'binding') await this.#fillAndFree();
    else this.#addGang();
  }

  #addGang(): void {
    this.#addGroup(this.draw.minMember);
    for (const pod of this.draw.members) this.scheduling.pod(pod);
  }

  #addGroup(minMember: number): void {
    const { minResources } = this.draw;
    this.scheduling.group({ name: 'gang', minMember, ...(minResources !== undefined && { minResources }) });
  }

  /** A node fails to bind members twice. */
  async #failToBind(): Promise<void> {
    const { scheduling } = this;
    scheduling.node(failing);
    this.#addGang();
    for (let round = 0; round < 2; round++) {
      await this.#attemptAll();
      for (const { binding } of [...scheduling.binds]) await scheduling.reject(binding.name, 'refused');
      await scheduling.settle();
      if (round === 0) scheduling.harness.clock.advance(60 * second);
    }
    scheduling.pod({ name: 'filler', nodeName: failing.name!, cpu: 64, priority: highest });
    for (const { name, cpu } of this.draw.nodes)
      scheduling.pod({ name: `low-${name}`, nodeName: name!, cpu: Number(cpu) - 0.25, priority: -20 });
  }

  /** The failing node is full while the group preempts, and then free again. */
  async #fillAndFree(): Promise<void> {
    const { scheduling } = this;
    scheduling.harness.clock.advance(60 * second);
    await this.#attemptAll();
    scheduling.removePod('filler');
    this.#hasChanged = true;
    this.#hasStarted = false;
    scheduling.harness.clock.advance(60 * second);
  }

  async #loseMember(): Promise<void> {
    const { scheduling, draw } = this;
    scheduling.group({ name: 'lossy', minMember: 2 });
    for (const i of [0, 1]) {
      const name = `lossy-${i}`;
      scheduling.pod({ name, group: 'lossy', cpu: 4, memory: '1Gi', owner: 'lossy' });
      scheduling.change(name, { nodeName: draw.nodes[i % draw.nodes.length]!.name! });
    }
    await this.#attemptAll();
    scheduling.harness.clock.advance(60 * second);
    scheduling.removePod('lossy-0');
  }

  async #waitForTurn(): Promise<void> {
    const { scheduling, draw } = this;
    const { schedulerName } = draw.profiles[0]!;
    scheduling.group({ name: 'ahead', minMember: 2 });
    scheduling.members(2, { group: 'ahead', cpu: 2, memory: '1Gi', schedulerName, priority: 5 });
    for (let round = 0; round < 3; round++) {
      await this.#attemptAll();
      scheduling.harness.clock.advance(5 * second);
    }
  }

  #failToAdmit(nodeName: string): void {
    const { group: _, ...like } = this.draw.members[0]!;
    const name = `like-${nodeName}`;
    this.scheduling.pod({ ...like, name, nodeName });
    this.scheduling.change(name, { phase: 'Failed', failedBecause: 'OutOfcpu' });
  }

  async #attemptAll(): Promise<void> {
    const { scheduling } = this;
    const { preempted } = scheduling.harness;
    for (;;) {
      const [victims, attempts] = [preempted.length, this.#attempts];
      const result = await scheduling.attempt();
      if (this.#attempts > attempts) {
        this.#hasPreempted = preempted.length > victims;
        this.#hasChanged = false;
      }
      this.#hasStarted ||= scheduling.harness.cluster.gang('default/gang')?.missing === 0;
      if (result !== undefined) continue;
      if (this.#extenders === undefined || this.#extenders.asked.length === 0) return;
      this.#answer(this.#extenders);
      await scheduling.settle();
    }
  }

  /** Number of attempts of the group. */
  get #attempts(): number {
    return this.scheduling.queue.get('gang/default/gang')?.attempts ?? 0;
  }

  /** The extender leaves no node, or every other one, and gives a reason for some. */
  #answer(extenders: AskedExtenders): void {
    const asked = extenders.next();
    const leavesSome = this.draw.seed % 3 === 0;
    const isLeft = (name: string): boolean => leavesSome && Number(name.at(-1)) % 2 === 0;
    const rejected = asked.nodes.filter((name) => !isLeft(name));
    asked.leave(asked.nodes.filter(isLeft), {
      failed: new Map(rejected.filter((name) => name !== 'n1').map((name) => [name, 'no license'])),
    });
  }
}

/** A node that is large enough for most groups. */
const failing: NodeOptions = {
  name: 'f0',
  cpu: 64,
  memory: '64Gi',
  labels: { zone: 'a', pool: 'x', 'kubernetes.io/hostname': 'f0' },
  allocatable: { 'nvidia.com/gpu': 8 },
};

function copyOf(like: NodeOptions, name: string): NodeOptions {
  return { ...like, name, unschedulable: false, labels: { ...like.labels, 'kubernetes.io/hostname': name } };
}

/** Composes the sentence of a diagnosis from the rows of the funnel. */
export function sentenceOf({ blocker }: Pick<Explanation, 'blocker'>): string {
  const reasons = new Map<string, number>();
  for (const { rejections, removed } of blocker!.funnel)
    for (const { message } of rejections) reasons.set(message, (reasons.get(message) ?? 0) + removed);
  const texts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${blocker!.nodes} nodes are available: ${texts.join(', ')}.`;
}

/** Returns the sentences by which a verdict may say what is missing. */
export function sentencesOfShortage({
  resource,
  more,
  isAtLeast,
  free,
  left,
  mostLeft,
  total,
}: Shortage): readonly string[] {
  const noun = (amount: string): string => (resource !== 'pods' ? resource : amount === '1' ? 'pod slot' : 'pod slots');
  if (more === undefined) {
    const finds = left === free ? `It finds ${free}` : `The members that would fit leave ${left}`;
    return [`${finds} ${noun(left)} free, at most ${mostLeft} on one node.`];
  }
  const needs = `It needs ${isAtLeast === true ? 'at least ' : ''}${more} more ${noun(more)}; ${free} free`;
  return [`${needs}, ${total} in total.`, `${needs}, at most ${mostLeft} on one node, ${total} in total.`];
}

/** Returns whether the verdict says how much is missing. */
export function saysShortage(message: string): boolean {
  return /\. (It needs |It finds |The members that would fit leave )/.test(message);
}
