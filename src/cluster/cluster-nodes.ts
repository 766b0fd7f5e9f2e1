import { noFeatures } from '../api/node-features.ts';
import { noImages } from '../api/node-images.ts';
import { nodesEqualForScheduling } from '../api/node.ts';
import type { Node } from '../api/node.ts';
import { ImageStates } from './image-states.ts';
import { NodeInfo } from './node-info.ts';
import type { PodChangeLog } from './node-info.ts';
import { FreeCapacity } from './free-capacity.ts';
import type { GenerationCounter } from './generation-counter.ts';
import type { TieBreaks } from './tie-breaks.ts';
import { Topologies } from './topologies.ts';
import type { Topology } from './topologies.ts';

const unknownNode: Node = {
  name: '',
  uid: '',
  resourceVersion: '',
  labels: {},
  taints: [],
  unschedulable: true,
  allocatable: { ids: [], amounts: [] },
  declaredFeatures: noFeatures,
  images: noImages,
};

/** The nodes of the cluster cache with their sums. Also keeps unknown nodes that pods or reservations refer to. */
export class ClusterNodes {
  /** Known nodes in arbitrary order; `NodeInfo.index` is the position in this list. */
  readonly list: NodeInfo[] = [];
  readonly capacity = new FreeCapacity();
  readonly images = new ImageStates();
  readonly counter: GenerationCounter;
  readonly #log: PodChangeLog;
  readonly #ties: TieBreaks | undefined;
  /** node name -> node, including unknown nodes that pods or reservations refer to */
  readonly #byName = new Map<string, NodeInfo>();
  /** Names of deleted nodes that still have pods or reservations. */
  readonly #gone = new Set<string>();
  readonly #topologies = new Topologies();
  #generation = 0;
  #generations = new Float64Array(64);
  #revision = 0;

  /** `log` receives every pod that is added to a node or removed from it. */
  constructor(counter: GenerationCounter, log: PodChangeLog, ties?: TieBreaks) {
    this.counter = counter;
    this.#log = log;
    this.#ties = ties;
  }

  /** Returns known and unknown nodes. */
  all(): Iterable<NodeInfo> {
    return this.#byName.values();
  }

  /** Returns a known or unknown node. */
  get(name: string): NodeInfo | undefined {
    return this.#byName.get(name);
  }

  /** Like `get`, but creates an unknown node if there is none. */
  named(name: string): NodeInfo {
    let info = this.#byName.get(name);
    if (info === undefined) {
      info = new NodeInfo(name, unknownNode, this.#log, this.#ties);
      info.isGone = this.#gone.has(name);
      this.#byName.set(name, info);
    }
    return info;
  }

  /** Adds a node again that may have been dropped in the meantime. */
  keep(info: NodeInfo): void {
    this.#byName.set(info.name, info);
  }

  set(node: Node): NodeInfo {
    const info = this.named(node.name);
    info.isGone = false;
    this.#gone.delete(node.name);
    if (info.index < 0 || !nodesEqualForScheduling(info.node, node)) this.#revision++;
    if (info.index < 0) info.index = this.list.push(info) - 1;
    this.#replace(info, node);
    return info;
  }

  /** Adds or updates a node as another list of nodes has it, without its pods. */
  follow({ name, node, allocatable, images }: NodeInfo): void {
    const info = this.named(name);
    if (info.index < 0) info.index = this.list.push(info) - 1;
    info.node = node;
    info.allocatable = allocatable;
    info.images = images;
    this.touch(info);
  }

  /** Removes a node that `follow` added. */
  unfollow(name: string): void {
    const info = this.get(name)!;
    // The other list counts the images.
    info.images = [];
    this.remove(info);
  }

  /** Removes a known node. */
  remove(info: NodeInfo): void {
    this.#revision++;
    const last = this.list.pop()!;
    if (last !== info) {
      this.list[info.index] = last;
      last.index = info.index;
      this.setGeneration(last, last.generation);
    }
    info.index = -1;
    this.#replace(info, unknownNode);
    this.markGone(info);
    this.dropIfUnused(info);
    this.forgetIfUnused(info.name);
  }

  markGone(info: NodeInfo): void {
    info.isGone = true;
    this.#gone.add(info.name);
  }

  dropIfUnused(info: NodeInfo): void {
    if (info.index < 0 && info.pods.size === 0 && info.reservations.size === 0) this.#byName.delete(info.name);
  }

  /** Call it after a change, because a change may briefly remove the last pod from its node. */
  forgetIfUnused(name: string): void {
    if (this.#gone.size > 0 && !this.#byName.has(name)) this.#gone.delete(name);
  }

  /** Changes when a node is added or removed, or when a field that scheduling reads changes. Pods on nodes don't count. */
  get revision(): number {
    return this.#revision;
  }

  topology(key: string): Topology {
    return this.#topologies.of(key, this.list, this.#revision);
  }

  /** Generation of all nodes together. */
  get generation(): number {
    return this.#generation;
  }

  /** Resets the generation after all nodes are back in their state of this generation. */
  restoreGeneration(generation: number): void {
    this.#generation = generation;
  }

  /** node index -> `NodeInfo.generation` */
  get generations(): Float64Array {
    return this.#generations;
  }

  /** Records a change of the node. */
  touch(info: NodeInfo): void {
    this.#generation = this.counter.next();
    this.setGeneration(info, this.#generation);
    this.capacity.update(info);
  }

  /** Resets the node's generation after the node is back in its state of this generation. */
  setGeneration(info: NodeInfo, generation: number): void {
    info.generation = generation;
    const { index } = info;
    if (index < 0) return;
    if (index >= this.#generations.length) {
      const larger = new Float64Array(2 * index);
      larger.set(this.#generations);
      this.#generations = larger;
    }
    this.#generations[index] = generation;
  }

  #replace(info: NodeInfo, node: Node): void {
    info.setNode(node);
    info.images = this.images.replace(info.images, node.images);
    this.touch(info);
  }
}
