import type { NodeOptions } from '../../../test/builders/node.ts';
import type { PodGroupOptions } from '../../../test/builders/pod-group.ts';
import type { PodOptions } from '../../../test/builders/pod.ts';
import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { GangSpec } from '../../cluster/gang.ts';
import { EventHints } from '../../framework/event-hints.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { QueueObserver } from '../../queue/scheduling-queue.ts';
import { EntityRouter } from '../entity-router.ts';
import { gangSpecOf } from '../pod-group-adapter.ts';
import { sortKeyOf } from '../sort-key.ts';
import { WatchHandlers } from '../watch-handlers.ts';
import { Picture } from './picture.ts';
import type { PictureOptions } from './picture.ts';

/** Everything from the watch handlers to the queue, told what the API says as informers would. */
export class Queueing {
  readonly picture: Picture;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  readonly handlers: WatchHandlers;
  /** `uid` of each pod that the handlers reported as seen, in order; `-uid` when it is gone. */
  readonly seen: string[] = [];
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Pod>();
  readonly #groups = new Map<string, GangSpec>();
  #synced = true;

  constructor(
    options: PictureOptions & {
      readonly schedulerNames?: readonly string[];
      readonly decidesGangs?: boolean;
      readonly gated?: QueueObserver['gated'];
    },
  ) {
    this.picture = new Picture(options);
    const { cluster, clock, profile } = this.picture;
    const hints = new EventHints(profile);
    this.queue = new SchedulingQueue({
      clock,
      policy: {
        compare: (a, b) => profile.compare(a, b),
        preEnqueue: (candidate) => profile.preEnqueue(candidate),
        hints: () => hints,
        ignores: (event) => hints.ignores(event),
        sortKey: sortKeyOf,
      },
      observer: { ready: () => undefined, gated: options.gated ?? (() => undefined), moved: () => undefined },
    });
    const names = new Set(options.schedulerNames ?? [profile.schedulerName]);
    this.router = new EntityRouter({
      cluster,
      queue: this.queue,
      isOurs: (name) => names.has(name),
      decidesGangs: options.decidesGangs ?? true,
    });
    this.handlers = new WatchHandlers({
      cluster,
      queue: this.queue,
      router: this.router,
      clock,
      hasSynced: () => this.#synced,
      podSeen: (uid, pod) => this.seen.push(pod === undefined ? `-${uid}` : uid),
    });
  }

  /** What is said inside is the first list; the queue is then filled from it. */
  start(list: () => void): void {
    this.#synced = false;
    list();
    this.#synced = true;
    this.router.routeAll();
  }

  node(options: NodeOptions): void {
    const node = this.picture.build.projectedNode(options);
    const old = this.#nodes.get(node.name);
    this.#nodes.set(node.name, node);
    if (old === undefined) this.handlers.nodes.onAdd(node);
    else this.handlers.nodes.onUpdate(old, node);
  }

  removeNode(name: string): void {
    const node = this.#nodes.get(name)!;
    this.#nodes.delete(name);
    this.handlers.nodes.onDelete(node, false);
  }

  pod(options: PodOptions): Pod {
    return this.show(this.picture.build.projectedPod({ uid: options.name ?? 'pod', ...options }));
  }

  /** `count` members of a group, `<group>-0` on; their uids are their names. */
  members(count: number, options: PodOptions & { readonly group: string }): Pod[] {
    return Array.from({ length: count }, (_, i) => this.pod({ ...options, name: `${options.group}-${i}` }));
  }

  /** The API shows the pod like this. */
  show(pod: Pod): Pod {
    const old = this.#pods.get(pod.uid);
    this.#pods.set(pod.uid, pod);
    if (old === undefined) this.handlers.pods.onAdd(pod);
    else this.handlers.pods.onUpdate(old, pod);
    return pod;
  }

  change(name: string, change: Partial<Pod>): Pod {
    return this.show({ ...this.#pods.get(name)!, ...change });
  }

  removePod(name: string): void {
    const pod = this.#pods.get(name)!;
    this.#pods.delete(name);
    this.handlers.pods.onDelete(pod, false);
  }

  group(options: PodGroupOptions): void {
    const { build } = this.picture;
    const spec = gangSpecOf(build.projectedPodGroup({ uid: options.name ?? 'group', ...options }), build.resources);
    const old = this.#groups.get(spec.key);
    this.#groups.set(spec.key, spec);
    if (old === undefined) this.handlers.podGroups.onAdd(spec);
    else this.handlers.podGroups.onUpdate(old, spec);
  }

  removeGroup(key: string): void {
    const spec = this.#groups.get(key)!;
    this.#groups.delete(key);
    this.handlers.podGroups.onDelete(spec, false);
  }

  /** entity -> where it is: `pod/<uid>` or `gang/<namespace>/<name>`. */
  states(): Record<string, string> {
    return Object.fromEntries([...this.queue.entities()].map(({ key, state }) => [key, state.kind]));
  }

  /** Pops, and takes for scheduled, everything that can be popped. */
  popAll(): string[] {
    const keys: string[] = [];
    for (let entity = this.queue.pop(); entity !== undefined; entity = this.queue.pop()) {
      keys.push(entity.key);
      this.queue.done(entity);
    }
    return keys;
  }

  /** The next entity's attempt is refused by these plugins. */
  refuseNext(...plugins: string[]): QueuedEntity {
    const entity = this.queue.pop();
    if (entity === undefined) throw new Error('nothing can be popped');
    const { candidate } = entity;
    const refusedPods = candidate.kind === 'pod' ? [candidate.pod] : [...candidate.gang.pending.values()];
    this.queue.failed(entity, { refusedBy: new Set(plugins), refusedPods, error: false });
    return entity;
  }

  /** Assumes the pods on the node, as a committed plan does. */
  assume(nodeName: string, ...names: string[]): void {
    const { cluster } = this.picture;
    const transaction = cluster.begin();
    for (const name of names) transaction.assume(cluster.pod(name)!, cluster.node(nodeName)!);
    transaction.commit();
  }
}
