import type { Pod, PodTemplate } from '../../api/pod.ts';
import type { ImageView } from '../../cluster/image-states.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip } from '../../framework/status.ts';
import type { Status } from '../../framework/status.ts';
import { maxNodeScore } from '../node-score.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'ImageLocality';
const mebibyte = 1024 * 1024;
/** What is there counts from this size on, all images of a pod together; and up to that, for each of them. */
const leastBytes = 23 * mebibyte;
const mostBytesEach = 1000 * mebibyte;

/** An image of the pod that some node has, and what it is worth where it is. */
interface Known {
  readonly image: ImageView;
  readonly worth: number;
}

/**
 * Prefers nodes that have the pod's images (of containers, init containers and image volumes), by their size: kube-scheduler's formula, in
 * which an image counts for the less the fewer nodes have it, so that pods do not all go where the first one went.
 */
class ImageLocality implements Plugin {
  readonly name = name;
  readonly readsImages = true;
  readonly #cluster: ClusterLister;
  // What was found for the template asked about last, at that state of the picture: a cycle asks about one for thousands of nodes.
  #template: PodTemplate | undefined;
  #generation = -1;
  #known: readonly Known[] = [];

  constructor(cluster: ClusterLister) {
    this.#cluster = cluster;
  }

  sign(pod: Pod): string {
    const { images } = pod.template;
    return images.length === 0 ? '' : images.join(' ');
  }

  signCluster(pod: Pod): string {
    return this.#find(pod.template)
      .map(({ image, worth }) => `${image.name} ${worth}`)
      .join(' ');
  }

  preScore(_state: CycleState, pod: Pod): Status | undefined {
    return this.#find(pod.template).length === 0 ? skip : undefined;
  }

  score(_state: CycleState, pod: Pod, node: NodeView): number {
    const known = this.#find(pod.template);
    let sum = 0;
    for (let i = 0; i < known.length; i++) if (node.images.includes(known[i]!.image)) sum += known[i]!.worth;
    const most = mostBytesEach * pod.template.images.length;
    const counted = Math.min(Math.max(sum, leastBytes), most);
    return Math.floor((maxNodeScore * (counted - leastBytes)) / (most - leastBytes));
  }

  /** In the pod's order; one that is named twice counts twice. */
  #find(template: PodTemplate): readonly Known[] {
    const { generation, images, nodes } = this.#cluster;
    if (this.#template === template && this.#generation === generation) return this.#known;
    this.#known = template.images.flatMap((imageName) => {
      const image = images.image(imageName);
      if (image === undefined) return [];
      return [{ image, worth: Math.trunc(image.size * (image.nodes / nodes.length)) }];
    });
    this.#template = template;
    this.#generation = generation;
    return this.#known;
  }
}

export const createImageLocality: PluginFactory = (args, { cluster }) => {
  noArguments(name).read(args);
  return new ImageLocality(cluster);
};
