import type { Node } from '../api/node.ts';
import { isTerminal } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Claim } from '../cluster/claim.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { GangSpec, GangView } from '../cluster/gang.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { InformerHandler } from '../informer/informer-handler.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { EntityRouter } from './entity-router.ts';

export interface WatchHandlersOptions {
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly router: EntityRouter;
  readonly clock: Clock;
  /** Once the picture is complete. Until then only the picture is written, and the queue is filled from it in one go. */
  readonly hasSynced: () => boolean;
  /** A pod as the API now shows it, after cluster and queue know; undefined: it is gone. */
  readonly podSeen: (uid: string, pod: Pod | undefined) => void;
  /** A group, or a member of it, has changed; after cluster and queue know. */
  readonly groupSeen: (key: string) => void;
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
  #latest = 0;

  constructor(options: WatchHandlersOptions) {
    this.#options = options;
    this.#cluster = options.cluster;
    this.#queue = options.queue;
    this.#router = options.router;
  }

  readonly nodes: InformerHandler<Node> = {
    onAdd: (node) => {
      this.#cluster.setNode(node);
      this.#tell({ resource: 'Node', action: 'Add', old: undefined, new: node });
    },
    onUpdate: (old, node) => {
      this.#cluster.setNode(node);
      this.#tell({ resource: 'Node', action: 'Update', old, new: node });
    },
    onDelete: (node) => {
      this.#cluster.removeNode(node.name);
      this.#tell({ resource: 'Node', action: 'Delete', old: node });
    },
  };

  readonly pods: InformerHandler<Pod> = {
    onAdd: (pod) => this.#setPod(undefined, pod),
    onUpdate: (old, pod) => this.#setPod(old, pod),
    onDelete: (pod) => {
      const held = this.#cluster.nodeOf(this.#cluster.pod(pod.uid) ?? pod) !== undefined;
      const claim = this.#cluster.claimOf(pod.uid);
      this.#cluster.removePod(pod.uid);
      if (!this.#options.hasSynced()) return;
      this.#router.podChanged(pod, 'PodDelete', this.#instant());
      this.#tell({ resource: held ? 'AssignedPod' : 'UnscheduledPod', action: 'Delete', pod });
      if (claim !== undefined) this.#tell(roomFreed(claim));
      this.#options.podSeen(pod.uid, undefined);
      if (pod.podGroupKey !== undefined) this.#options.groupSeen(pod.podGroupKey);
    },
  };

  readonly podGroups: InformerHandler<GangSpec> = {
    onAdd: (spec) => this.#setGroup(spec, 'Add'),
    onUpdate: (_old, spec) => this.#setGroup(spec, 'Update'),
    onDelete: (spec) => {
      const gang = this.#cluster.gang(spec.key);
      this.#cluster.removeGang(spec.key);
      if (!this.#options.hasSynced()) return;
      this.#router.groupChanged(spec.key, 'PodGroupDelete', this.#instant());
      if (gang !== undefined) this.#tell({ resource: 'PodGroup', action: 'Delete', gang });
      this.#options.groupSeen(spec.key);
    },
  };

  #setPod(old: Pod | undefined, pod: Pod): void {
    const wasOnNode = old !== undefined && old.nodeName !== '' && !isTerminal(old);
    const claim = this.#cluster.claimOf(pod.uid);
    const outcome = this.#cluster.setPod(pod);
    if (!this.#options.hasSynced()) return;
    const now = this.#instant();
    if (old?.podGroupKey !== undefined && old.podGroupKey !== pod.podGroupKey) {
      this.#router.groupChanged(old.podGroupKey, 'PodUpdate', now, pod);
    }
    this.#router.podChanged(pod, old === undefined ? 'PodAdd' : 'PodUpdate', now);
    const isOnNode = pod.nodeName !== '' && !isTerminal(pod);
    // On another node than assumed: the room there is free. `old` does not name that node, so everybody is asked.
    if (isOnNode && outcome === 'contradicted') {
      this.#tell({ resource: 'AssignedPod', action: 'Delete', pod: old ?? pod });
    }
    if (isOnNode) {
      this.#tell({ resource: 'AssignedPod', action: wasOnNode ? 'Update' : 'Add', pod });
    } else if (wasOnNode || outcome === 'contradicted') {
      this.#tell({ resource: 'AssignedPod', action: 'Delete', pod });
    } else if (!isTerminal(pod)) {
      this.#tell({ resource: 'UnscheduledPod', action: old === undefined ? 'Add' : 'Update', pod });
    }
    const isKept =
      this.#cluster.claimOf(pod.uid)?.nodeName === claim?.nodeName || (isOnNode && pod.nodeName === claim?.nodeName);
    if (claim !== undefined && !isKept) this.#tell(roomFreed(claim));
    this.#options.podSeen(pod.uid, pod);
    if (old?.podGroupKey !== undefined && old.podGroupKey !== pod.podGroupKey) this.#options.groupSeen(old.podGroupKey);
    if (pod.podGroupKey !== undefined) this.#options.groupSeen(pod.podGroupKey);
  }

  #setGroup(spec: GangSpec, action: 'Add' | 'Update'): void {
    this.#cluster.setGang(spec);
    const gang: GangView = this.#cluster.gang(spec.key)!;
    if (!this.#options.hasSynced()) return;
    this.#router.groupChanged(spec.key, `PodGroup${action}`, this.#instant());
    this.#tell({ resource: 'PodGroup', action, gang });
    this.#options.groupSeen(spec.key);
  }

  /** The time, later with every change, so that entities made ready in one millisecond keep the order of their changes. */
  #instant(): number {
    this.#latest = Math.max(this.#options.clock.now(), this.#latest + 0.001);
    return this.#latest;
  }

  #tell(event: ClusterEvent): void {
    if (this.#options.hasSynced()) this.#queue.moveOnEvent(event);
  }
}

/** The room that was kept is free: nobody will come. */
function roomFreed({ claimant, nodeName }: Claim): ClusterEvent {
  return { resource: 'AssignedPod', action: 'Delete', pod: { ...claimant, nodeName } };
}
