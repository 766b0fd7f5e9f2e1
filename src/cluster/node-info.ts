import type { Node } from '../api/node.ts';
import type { HostPort, Pod } from '../api/pod.ts';
import type { ResourceId } from '../api/resource-names.ts';
import { hashText } from '../base/hash-text.ts';
import { Amounts } from './amounts.ts';
import type { AmountsView } from './amounts.ts';
import type { Reservation } from './reservation.ts';
import type { ImageView } from './image-states.ts';
import { isNodeLost } from './lost-node.ts';

/** What is on a node: its pods and their sums. */
export interface NodeContents {
  /** Sum of requests. */
  readonly requested: AmountsView;
  /** As `requested`, but containers without a request count 100m CPU and 200 MiB: for scoring. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
  /** uid -> pod, in order of arrival */
  readonly pods: ReadonlyMap<string, Pod>;
  /** Host ports in use, one entry a port of a pod. */
  readonly hostPorts: readonly HostPort[];
}

/**
 * A node as plugins see it, with what runs or is assumed on it: what Filter and Score read.
 */
export interface NodeView extends NodeContents {
  readonly name: string;
  /** Position in the cluster's node list; -1 while the node itself is unknown and only pods name it. */
  readonly index: number;
  readonly node: Node;
  /** Changes with everything that a node-local verdict may read; never the same for two different states. */
  readonly generation: number;
  readonly allocatable: AmountsView;
  /** What it has of images, each name once. */
  readonly images: readonly ImageView[];
  /** owner uid -> room kept for a pod that is to come */
  readonly reservations: ReadonlyMap<string, Reservation>;
  /** It has gone, or does not run pods: what is there may never end by itself. */
  readonly isLost: boolean;
  /** Free amount; negative when over-committed. */
  free(id: ResourceId): number;
}

/** What a node held, as its owner may change it. */
export interface OwnContents extends NodeContents {
  readonly requested: Amounts;
  readonly pods: Map<string, Pod>;
  readonly hostPorts: HostPort[];
}

/** Pods that were taken off a node together. */
export interface TakenOff {
  /** As the node held them. */
  readonly pods: readonly Pod[];
  /** What it held before, untouched. */
  readonly before: OwnContents;
}

/** Told of every pod that comes to a node or leaves it, when it has. */
export interface PodChangeLog {
  came(node: NodeInfo, pods: readonly Pod[]): void;
  left(node: NodeInfo, pods: readonly Pod[]): void;
}

/** A node of the picture. */
export class NodeInfo implements NodeView {
  readonly name: string;
  /** Of the name: what an order among equal nodes is made of. */
  readonly nameHash: number;
  index = -1;
  node: Node;
  generation = 0;
  /** The API has shown that it is not there any more. */
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

  constructor(name: string, node: Node, log?: PodChangeLog) {
    this.name = name;
    this.#log = log;
    this.nameHash = hashText(name);
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
    this.#log?.came(this, [pod]);
  }

  /** A pod that is here has changed, but for its template. */
  changePod(pod: Pod): void {
    const before = this.pods.get(pod.uid)!;
    this.pods.set(pod.uid, pod);
    if (before.labels === pod.labels && before.deleting === pod.deleting) return;
    this.#log?.left(this, [before]);
    this.#log?.came(this, [pod]);
  }

  removePod(pod: Pod): void {
    this.#log?.left(this, [this.pods.get(pod.uid) ?? pod]);
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

  /** Takes pods that are here off in one go, whatever they looked like to who names them. */
  takeOff(named: readonly Pod[]): TakenOff {
    const before = this.contents;
    const { pods } = before;
    const gone = named.map(({ uid }) => pods.get(uid)!);
    this.requested = new Amounts();
    this.nonZeroMilliCpu = 0;
    this.nonZeroMemory = 0;
    this.pods = new Map();
    this.hostPorts = [];
    if (gone.length < pods.size) {
      const uids = new Set(gone.map(({ uid }) => uid));
      for (const pod of pods.values()) if (!uids.has(pod.uid)) this.#put(pod);
    }
    this.#log?.left(this, gone);
    return { pods: gone, before };
  }

  /** What it holds now. */
  get contents(): OwnContents {
    const { requested, nonZeroMilliCpu, nonZeroMemory, pods, hostPorts } = this;
    return { requested, nonZeroMilliCpu, nonZeroMemory, pods, hostPorts };
  }

  /**
   * Makes the node hold what it held when this was its `contents`, provided that nothing has been changed in them since. That differs
   * from what it holds now by the pods that come, or that leave.
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
    if (came !== undefined) this.#log?.came(this, came);
    if (left !== undefined) this.#log?.left(this, left);
  }

  #put(pod: Pod): void {
    this.pods.set(pod.uid, pod);
    this.requested.add(pod.template.requests);
    this.nonZeroMilliCpu += pod.template.nonZeroMilliCpu;
    this.nonZeroMemory += pod.template.nonZeroMemory;
    for (const port of pod.template.hostPorts) this.hostPorts.push(port);
  }
}
