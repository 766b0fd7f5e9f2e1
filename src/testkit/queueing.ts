import type { NodeOptions } from './builders/node.ts';
import type { NativePodGroupOptions } from './builders/native-pod-group.ts';
import type { PodGroupOptions } from './builders/pod-group.ts';
import type { PodOptions } from './builders/pod.ts';
import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { GangSpec } from '../cluster/gang-spec.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { EntityRouter } from '../scheduler/intake/entity-router.ts';
import { nativeGangSpecOf } from '../scheduler/intake/native-pod-group-adapter.ts';
import { gangSpecOf } from '../scheduler/intake/pod-group-adapter.ts';
import { CoreHarness } from './core-harness.ts';
import type { CoreHarnessOptions } from './core-harness.ts';

/** A running core that gets watch events from the test instead of informers. The test can inspect its queue. */
export class Queueing {
  readonly harness: CoreHarness;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Pod>();
  readonly #groups = new Map<string, GangSpec>();

  /** `listing`: the core has not started. Objects that the test adds before `start` are the initial list. */
  constructor(options: CoreHarnessOptions, phase: 'listing' | 'running' = 'running') {
    this.harness = new CoreHarness(options);
    this.queue = this.harness.core.queue;
    this.router = this.harness.core.router;
    if (phase === 'running') this.start();
  }

  start(): void {
    this.harness.core.begin();
  }

  node(options: NodeOptions): void {
    const { build, core } = this.harness;
    const node = build.projectedNode(options);
    const old = this.#nodes.get(node.name);
    this.#nodes.set(node.name, node);
    if (old === undefined) core.handlers.nodes.onAdd(node);
    else core.handlers.nodes.onUpdate(old, node);
  }

  removeNode(name: string): void {
    const node = this.#nodes.get(name)!;
    this.#nodes.delete(name);
    this.harness.core.handlers.nodes.onDelete(node, false);
  }

  pod(options: PodOptions): Pod {
    return this.show(this.harness.build.projectedPod({ uid: options.name ?? 'pod', ...options }));
  }

  /** Adds `count` members of a group: `<group>-0` and so on. Their UIDs are their names. */
  members(count: number, options: PodOptions & { readonly group: string }): Pod[] {
    return Array.from({ length: count }, (_, i) => this.pod({ ...options, name: `${options.group}-${i}` }));
  }

  /** Delivers a watch event with this state of the pod. */
  show(pod: Pod): Pod {
    const { pods } = this.harness.core.handlers;
    const old = this.#pods.get(pod.uid);
    this.#pods.set(pod.uid, pod);
    if (old === undefined) pods.onAdd(pod);
    else pods.onUpdate(old, pod);
    return pod;
  }

  has(uid: string): boolean {
    return this.#pods.has(uid);
  }

  change(name: string, change: Partial<Pod>): Pod {
    return this.show({ ...this.#pods.get(name)!, ...change });
  }

  /** Removes the pod with this uid, which is the name of a pod that `pod` has added. */
  removePod(uid: string): void {
    const pod = this.#pods.get(uid)!;
    this.#pods.delete(uid);
    this.harness.core.handlers.pods.onDelete(pod, false);
  }

  group(options: PodGroupOptions): void {
    const { build } = this.harness;
    this.#setGroup(gangSpecOf(build.projectedPodGroup({ uid: options.name ?? 'group', ...options }), build.resources));
  }

  /** Adds or changes a PodGroup of Kubernetes itself. */
  nativeGroup(options: NativePodGroupOptions): void {
    const group = this.harness.build.projectedNativePodGroup({ uid: `native-${options.name}`, ...options });
    this.#setGroup(nativeGangSpecOf(group));
  }

  #setGroup(spec: GangSpec): void {
    const { core } = this.harness;
    const old = this.#groups.get(spec.key);
    this.#groups.set(spec.key, spec);
    if (old === undefined) core.handlers.podGroups.onAdd(spec);
    else core.handlers.podGroups.onUpdate(old, spec);
  }

  removeGroup(key: string): void {
    const spec = this.#groups.get(key)!;
    this.#groups.delete(key);
    this.harness.core.handlers.podGroups.onDelete(spec, false);
  }

  /** Runs everything that waits for neither a timer nor an answer. */
  async settle(): Promise<void> {
    for (let i = 0; i < 40; i++) await Promise.resolve();
  }

  /** Returns the queue state of each entity: `pod/<uid>` or `gang/<group key>` -> state */
  states(): Record<string, string> {
    return Object.fromEntries([...this.queue.entities()].map(({ key, state }) => [key, state.kind]));
  }

  /** Pops all active entities and marks them as scheduled. */
  popAll(): string[] {
    const keys: string[] = [];
    for (let entity = this.queue.pop(); entity !== undefined; entity = this.queue.pop()) {
      keys.push(entity.key);
      this.queue.done(entity);
    }
    return keys;
  }

  /** Pops the next entity and reports that these plugins rejected it. */
  rejectNext(...plugins: string[]): QueuedEntity {
    const entity = this.queue.pop();
    if (entity === undefined) throw new Error('the queue has no active entity');
    const { schedulingEntity } = entity;
    const rejectedPods =
      schedulingEntity.kind === 'pod' ? [schedulingEntity.pod] : [...schedulingEntity.gang.pending.values()];
    this.queue.failed(entity, { unschedulablePlugins: new Set(plugins), rejectedPods, error: false });
    return entity;
  }

  /** Assumes the pods on the node, as a committed plan does. */
  assume(nodeName: string, ...names: string[]): void {
    const { cluster } = this.harness;
    const transaction = cluster.begin();
    for (const name of names) transaction.assume(cluster.pod(name)!, cluster.node(nodeName)!);
    transaction.commit();
  }
}
