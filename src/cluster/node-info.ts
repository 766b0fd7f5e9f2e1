import type { Node } from '../api/node.ts';
import type { HostPort, Pod } from '../api/pod.ts';
import type { ResourceId } from '../api/resource-names.ts';
import { hashText } from '../base/hash-text.ts';
import type { TieBreaks } from './tie-breaks.ts';
import { Amounts } from './amounts.ts';
import type { AmountsView } from './amounts.ts';
import type { Reservation } from './reservation.ts';
import type { ImageView } from './image-states.ts';
import { isNodeLost } from './lost-node.ts';

/** The pods on a node and their sums. */
export interface NodeContents {
  /** Sum of requests. */
  readonly requested: AmountsView;
  /** Like `requested`, but a container without a request counts as 100m CPU and 200 MiB; used for scoring. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
  /** uid -> pod, in order of arrival */
  readonly pods: ReadonlyMap<string, Pod>;
  /** Host ports in use, one entry per port of a pod. */
  readonly hostPorts: readonly HostPort[];
}

/** A node as plugins see it, with its bound and assumed pods: the input of Filter and Score. */
export interface NodeView extends NodeContents {
  readonly name: string;
  /** Position in the cluster's node list; -1 for an unknown node that only pods refer to. */
  readonly index: number;
  readonly node: Node;
  /** Changes with everything that a node-local result may read. Two different states never share a generation. */
  readonly generation: number;
  readonly allocatable: AmountsView;
  /** Images on the node, without duplicates. */
  readonly images: readonly ImageView[];
  /** owner uid -> reservation on the node */
  readonly reservations: ReadonlyMap<string, Reservation>;
  /** True if the node is gone or does not run pods, so that its pods may never end by themselves. */
  readonly isLost: boolean;
  /** Free amount; negative if the node is overcommitted. */
  free(id: ResourceId): number;
}

/** Contents that the owner may change. */
export interface OwnContents extends NodeContents {
  readonly requested: Amounts;
  readonly pods: Map<string, Pod>;
  readonly hostPorts: HostPort[];
}

/** Pods that were removed from a node together. */
export interface TakenOff {
  /** The removed pods as the node had them. */
  readonly pods: readonly Pod[];
  /** The node's contents before, unmodified. */
  readonly before: OwnContents;
}

/** Receives every pod that has been added to a node or removed from it. */
export interface PodChangeLog {
  added(node: NodeInfo, pods: readonly Pod[]): void;
  removed(node: NodeInfo, pods: readonly Pod[]): void;
}

/** A node of the cluster cache. */
export class NodeInfo implements NodeView {
  readonly name: string;
  /** Hash of the name, which orders otherwise equal nodes. */
  readonly nameHash: number;
  /** Orders otherwise equal nodes by itself. */
  readonly nameRank: number;
  index = -1;
  node: Node;
  generation = 0;
  /** True once the API server has deleted the node. */
  isGone = false;
  allocatable = new Amounts();
  images: readonly ImageView[] = [];
  requested = new Amounts();
  nonZeroMilliCpu = 0;
  nonZeroMemory = 0;
  pods = new Map<string, Pod>();
  readonly reservations = new Map<string, Reservation>();
  hostPorts: HostPort[] = [];
  readonly #log: PodChangeLog | undefined;

  constructor(name: string, node: Node, log?: PodChangeLog, ties?: TieBreaks) {
    this.name = name;
    this.#log = log;
    const tie = ties?.nodes[name];
    this.nameHash = tie?.hash ?? hashText(name);
    this.nameRank = tie?.rank ?? this.nameHash;
    this.node = node;
  }

  get isLost(): boolean {
    return this.isGone || isNodeLost(this.node);
  }

  setNode(node: Node): void {
    this.node = node;
    this.allocatable = new Amounts();
    this.allocatable.add(node.allocatable);
  }

  free(id: ResourceId): number {
    return this.allocatable.of(id) - this.requested.of(id);
  }

  addPod(pod: Pod): void {
    this.#put(pod);
    this.#log?.added(this, [pod]);
  }

  /** Updates a pod on the node whose template has not changed. */
  changePod(pod: Pod): void {
    const before = this.pods.get(pod.uid)!;
    this.pods.set(pod.uid, pod);
    if (before.labels === pod.labels && before.deleting === pod.deleting) return;
    this.#log?.removed(this, [before]);
    this.#log?.added(this, [pod]);
  }

  removePod(pod: Pod): void {
    this.#log?.removed(this, [this.pods.get(pod.uid) ?? pod]);
    this.pods.delete(pod.uid);
    this.requested.subtract(pod.template.requests);
    this.nonZeroMilliCpu -= pod.template.nonZeroMilliCpu;
    this.nonZeroMemory -= pod.template.nonZeroMemory;
    for (const port of pod.template.hostPorts) {
      // From the end, so that undoing the latest addition restores the order as well.
      const index = this.hostPorts.findLastIndex(
        (used) => used.port === port.port && used.protocol === port.protocol && used.hostIP === port.hostIP,
      );
      if (index >= 0) this.hostPorts.splice(index, 1);
    }
  }

  /** Removes pods from the node in one step, whatever version of them the caller has. Throws, without effect, if one is not there. */
  takeOff(requested: readonly Pod[]): TakenOff {
    const before = this.contents;
    const { pods } = before;
    const gone = requested.map(({ uid, key }) => {
      const pod = pods.get(uid);
      if (pod === undefined) throw new Error(`pod ${key} is not on node ${this.name}`);
      return pod;
    });
    this.requested = new Amounts();
    this.nonZeroMilliCpu = 0;
    this.nonZeroMemory = 0;
    this.pods = new Map();
    this.hostPorts = [];
    if (gone.length < pods.size) {
      const uids = new Set(gone.map(({ uid }) => uid));
      for (const pod of pods.values()) if (!uids.has(pod.uid)) this.#put(pod);
    }
    this.#log?.removed(this, gone);
    return { pods: gone, before };
  }

  /** The current contents. */
  get contents(): OwnContents {
    const { requested, nonZeroMilliCpu, nonZeroMemory, pods, hostPorts } = this;
    return { requested, nonZeroMilliCpu, nonZeroMemory, pods, hostPorts };
  }

  /**
   * Restores earlier `contents`, which must not have been changed since. They differ from the current contents by the pods in `came`, or
   * those in `left`.
   */
  restore(
    contents: OwnContents,
    { came, left }: { readonly came?: readonly Pod[]; readonly left?: readonly Pod[] },
  ): void {
    this.requested = contents.requested;
    this.nonZeroMilliCpu = contents.nonZeroMilliCpu;
    this.nonZeroMemory = contents.nonZeroMemory;
    this.pods = contents.pods;
    this.hostPorts = contents.hostPorts;
    if (came !== undefined) this.#log?.added(this, came);
    if (left !== undefined) this.#log?.removed(this, left);
  }

  #put(pod: Pod): void {
    this.pods.set(pod.uid, pod);
    this.requested.add(pod.template.requests);
    this.nonZeroMilliCpu += pod.template.nonZeroMilliCpu;
    this.nonZeroMemory += pod.template.nonZeroMemory;
    for (const port of pod.template.hostPorts) this.hostPorts.push(port);
  }
}
