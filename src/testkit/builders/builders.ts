import { NodeImages } from '../../api/node-images.ts';
import { projectNode } from '../../api/node.ts';
import type { Node } from '../../api/node.ts';
import { projectPodGroup } from '../../api/pod-group.ts';
import type { PodGroup } from '../../api/pod-group.ts';
import { PodProjector } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { ResourceNames } from '../../api/resource-names.ts';
import { NodeInfo } from '../../cluster/node-info.ts';
import { Identities } from './identity.ts';
import { buildNode } from './node.ts';
import type { NodeObject, NodeOptions } from './node.ts';
import { buildPodGroup } from './pod-group.ts';
import type { PodGroupObject, PodGroupOptions } from './pod-group.ts';
import { buildPod } from './pod.ts';
import type { PodObject, PodOptions } from './pod.ts';

/**
 * Objects for tests, in the words of the domain. What one `Builders` makes belongs together: one resource naming, one
 * projector, uids and creation times in order of building.
 *
 *     const build = new Builders();
 *     const red = build.projectedPod({ name: 'red-0', group: 'red', cpu: '1', memory: '1Gi' });
 *     const node = build.projectedNode({ name: 'a', cpu: 4, taints: ['dedicated=ml:NoSchedule'] });
 */
export class Builders {
  readonly resources: ResourceNames;
  readonly projector: PodProjector;
  readonly #identities: Identities;
  readonly #images = new NodeImages();

  constructor(
    options: {
      /** Default: names of its own. Give the cluster's where projections go into a cluster. */
      readonly resources?: ResourceNames;
      /** Where creation times begin, in milliseconds since the epoch. Default 2026-01-01. */
      readonly startMs?: number;
    } = {},
  ) {
    this.resources = options.resources ?? new ResourceNames();
    this.projector = new PodProjector(this.resources, { images: true });
    this.#identities = new Identities(options.startMs ?? Date.UTC(2026, 0, 1));
  }

  /** As the API server returns it. */
  pod(options: PodOptions = {}): PodObject {
    return buildPod(options, this.#identities.next());
  }

  /** As the scheduler sees it. */
  projectedPod(options: PodOptions = {}): Pod {
    return this.projector.project(this.pod(options));
  }

  /** `count` pods alike but for name (`<name>-0` on) and identity. */
  projectedPods(count: number, options: PodOptions = {}): Pod[] {
    return Array.from({ length: count }, (_, index) =>
      this.projectedPod({ ...options, name: `${options.name ?? options.group ?? 'pod'}-${index}` }),
    );
  }

  node(options: NodeOptions = {}): NodeObject {
    return buildNode(options, this.#identities.next());
  }

  projectedNode(options: NodeOptions = {}): Node {
    return projectNode(this.node(options), this.resources, this.#images);
  }

  /** A node of its own, outside any cluster, with these pods on it. */
  nodeInfo(options: NodeOptions = {}, pods: readonly PodOptions[] = []): NodeInfo {
    const node = this.projectedNode(options);
    const info = new NodeInfo(node.name, node);
    info.setNode(node);
    for (const pod of pods) info.addPod(this.projectedPod({ ...pod, nodeName: node.name }));
    return info;
  }

  podGroup(options: PodGroupOptions = {}): PodGroupObject {
    return buildPodGroup(options, this.#identities.next());
  }

  projectedPodGroup(options: PodGroupOptions = {}): PodGroup {
    return projectPodGroup(this.podGroup(options));
  }
}
