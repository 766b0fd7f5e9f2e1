import { noFeatures } from '../api/node-features.ts';
import { noImages } from '../api/node-images.ts';
import { nodesScheduleAlike } from '../api/node.ts';
import type { Node } from '../api/node.ts';
import { ImageStates } from './image-states.ts';
import { NodeInfo } from './node-info.ts';
import type { PodChangeLog } from './node-info.ts';
import { FreeCapacity } from './free-capacity.ts';
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

/** The nodes of the cluster cache, with what is summed over them. Also keeps nodes that only pods or claims name. */
export class ClusterNodes {
  /** The known nodes, in no meaningful order; `NodeInfo.index` is the position here. */
  readonly list: NodeInfo[] = [];
  readonly capacity = new FreeCapacity();
  readonly images = new ImageStates();
  readonly #log: PodChangeLog;
  /** node name -> node; also nodes that only pods or claims name so far */
  readonly #byName = new Map<string, NodeInfo>();
  /** Names of nodes that the API has shown to be gone, while anything is still there. */
  readonly #gone = new Set<string>();
  readonly #topologies = new Topologies();
  #generation = 0;
  #generations = new Float64Array(64);
  #revision = 0;

  /** `log` is notified of each pod that comes to a node or leaves it. */
  constructor(log: PodChangeLog) {
    this.#log = log;
  }

  /** Known or not. */
  all(): Iterable<NodeInfo> {
    return this.#byName.values();
  }

  /** Known or not. */
  get(name: string): NodeInfo | undefined {
    return this.#byName.get(name);
  }

  /** As `get`, and keeps a node of that name if there was none. */
  named(name: string): NodeInfo {
    let info = this.#byName.get(name);
    if (info === undefined) {
      info = new NodeInfo(name, unknownNode, this.#log);
      info.isGone = this.#gone.has(name);
      this.#byName.set(name, info);
    }
    return info;
  }

  /** Keeps a node that may have been dropped meanwhile. */
  keep(info: NodeInfo): void {
    this.#byName.set(info.name, info);
  }

  set(node: Node): NodeInfo {
    const info = this.named(node.name);
    info.isGone = false;
    this.#gone.delete(node.name);
    if (info.index < 0 || !nodesScheduleAlike(info.node, node)) this.#revision++;
    if (info.index < 0) info.index = this.list.push(info) - 1;
    this.#replace(info, node);
    return info;
  }

  /** The node is known, and is not any more. */
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

  /** After a change, in the middle of which the last pod may be off its node for a moment. */
  forgetIfUnused(name: string): void {
    if (this.#gone.size > 0 && !this.#byName.has(name)) this.#gone.delete(name);
  }

  /** Changes when a node comes or goes, or changes in what scheduling reads of it; what runs on nodes does not count. */
  get revision(): number {
    return this.#revision;
  }

  topology(key: string): Topology {
    return this.#topologies.of(key, this.list, this.#revision);
  }

  /** Of all nodes together. */
  get generation(): number {
    return this.#generation;
  }

  /** All nodes are again what they were in this generation. */
  restoreGeneration(generation: number): void {
    this.#generation = generation;
  }

  /** node index -> `NodeInfo.generation` */
  get generations(): Float64Array {
    return this.#generations;
  }

  /** The node is not what it was. */
  touch(info: NodeInfo): void {
    this.setGeneration(info, ++this.#generation);
    this.capacity.update(info);
  }

  /** The node, which has been touched, is again what it was in this generation. */
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
