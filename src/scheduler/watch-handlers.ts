import type { Node } from '../api/node.ts';
import { isTerminal } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Gang, GangSpec } from '../cluster/gang.ts';
import type { InformerHandler } from '../informer/informer-handler.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { EntityRouter } from './entity-router.ts';

export interface WatchHandlersOptions {
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  readonly clock: Clock;
  /** Once all informers have synced; until then ready times come from creation timestamps, so that a restart keeps the order. */
  readonly hasSynced: () => boolean;
  /** A pod as the API now shows it, after cluster and queue know; undefined: it is gone. */
  readonly podSeen: (uid: string, pod: Pod | undefined) => void;
}

/**
 * The only subscriber to the informers. For each watch change it updates the cluster picture, then the queue, in one
 * synchronous call.
 */
export class WatchHandlers {
  readonly #cluster: Cluster;
  readonly #queue: SchedulingQueue;
  readonly #router: EntityRouter;
  readonly #options: WatchHandlersOptions;

  constructor(options: WatchHandlersOptions) {
    this.#options = options;
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#router = options.router;
  }

  readonly nodes: InformerHandler<Node> = {
    onAdd: (node) => {
      this.#cluster.setNode(node);
      this.#queue.moveOnEvent({ resource: 'Node', action: 'Add', old: undefined, new: node });
    },
    onUpdate: (old, node) => {
      this.#cluster.setNode(node);
      this.#queue.moveOnEvent({ resource: 'Node', action: 'Update', old, new: node });
    },
    onDelete: (node) => {
      this.#cluster.removeNode(node.name);
      this.#queue.moveOnEvent({ resource: 'Node', action: 'Delete', old: node });
    },
  };

  readonly pods: InformerHandler<Pod> = {
    onAdd: (pod) => this.#setPod(undefined, pod),
    onUpdate: (old, pod) => this.#setPod(old, pod),
    onDelete: (pod) => {
      const held = this.#cluster.nodeOf(this.#cluster.pod(pod.uid) ?? pod) !== undefined;
      this.#cluster.removePod(pod.uid);
      this.#router.podChanged(pod, 'PodDelete', this.#options.clock.now());
      this.#queue.moveOnEvent({ resource: held ? 'AssignedPod' : 'UnscheduledPod', action: 'Delete', pod });
      this.#options.podSeen(pod.uid, undefined);
    },
  };

  readonly podGroups: InformerHandler<GangSpec> = {
    onAdd: (spec) => this.#setGroup(spec, 'Add'),
    onUpdate: (_old, spec) => this.#setGroup(spec, 'Update'),
    onDelete: (spec) => {
      const gang = this.#cluster.gang(spec.key);
      this.#cluster.removeGang(spec.key);
      this.#router.groupChanged(spec.key, 'PodGroupDelete', this.#options.clock.now());
      if (gang !== undefined) this.#queue.moveOnEvent({ resource: 'PodGroup', action: 'Delete', gang });
    },
  };

  #setPod(old: Pod | undefined, pod: Pod): void {
    const wasOnNode = old !== undefined && old.nodeName !== '' && !isTerminal(old);
    const outcome = this.#cluster.setPod(pod);
    if (old?.podGroupKey !== undefined && old.podGroupKey !== pod.podGroupKey) {
      this.#router.groupChanged(old.podGroupKey, 'PodUpdate', this.#options.clock.now(), pod);
    }
    this.#router.podChanged(pod, old === undefined ? 'PodAdd' : 'PodUpdate', this.#readyTime(pod));
    const isOnNode = pod.nodeName !== '' && !isTerminal(pod);
    // On another node than assumed: the room there is free. `old` does not name that node, so everybody is asked.
    if (isOnNode && outcome === 'contradicted') {
      this.#queue.moveOnEvent({ resource: 'AssignedPod', action: 'Delete', pod: old ?? pod });
    }
    if (isOnNode) {
      this.#queue.moveOnEvent({ resource: 'AssignedPod', action: wasOnNode ? 'Update' : 'Add', pod });
    } else if (wasOnNode || outcome === 'contradicted') {
      this.#queue.moveOnEvent({ resource: 'AssignedPod', action: 'Delete', pod });
    } else if (!isTerminal(pod)) {
      this.#queue.moveOnEvent({ resource: 'UnscheduledPod', action: old === undefined ? 'Add' : 'Update', pod });
    }
    if (old !== undefined && old.nominatedNodeName !== '' && pod.nominatedNodeName === '' && !isOnNode) {
      this.#queue.moveOnEvent({ resource: 'AssignedPod', action: 'Delete', pod });
    }
    this.#options.podSeen(pod.uid, pod);
  }

  #setGroup(spec: GangSpec, action: 'Add' | 'Update'): void {
    this.#cluster.setGang(spec);
    const gang: Gang = this.#cluster.gang(spec.key)!;
    const since = this.#options.hasSynced() ? this.#options.clock.now() : spec.creationTimestamp;
    this.#router.groupChanged(spec.key, `PodGroup${action}`, since);
    this.#queue.moveOnEvent({ resource: 'PodGroup', action, gang });
  }

  #readyTime(pod: Pod): number {
    return this.#options.hasSynced() ? this.#options.clock.now() : pod.creationTimestamp;
  }
}
