import { NodeImages } from '../../api/node-images.ts';
import { projectNode } from '../../api/node.ts';
import type { Node } from '../../api/node.ts';
import { projectNativePodGroup } from '../../api/native-pod-group.ts';
import type { NativePodGroup } from '../../api/native-pod-group.ts';
import { projectPodGroup } from '../../api/pod-group.ts';
import type { PodGroup } from '../../api/pod-group.ts';
import { PodProjector } from '../../api/pod-projector.ts';
import type { Pod } from '../../api/pod.ts';
import { ResourceNames } from '../../api/resource-names.ts';
import { NodeInfo } from '../../cluster/node-info.ts';
import { Identities } from './identity.ts';
import { buildNode } from './node.ts';
import type { NodeObject, NodeOptions } from './node.ts';
import { buildNativePodGroup } from './native-pod-group.ts';
import type { NativePodGroupOptions } from './native-pod-group.ts';
import { buildPodGroup } from './pod-group.ts';
import type { PodGroupObject, PodGroupOptions } from './pod-group.ts';
import { buildPod } from './pod.ts';
import type { PodObject, PodOptions } from './pod.ts';

/**
 * Builds Kubernetes objects for tests. The objects of one `Builders` share resource names and a projector. Their UIDs and creation times
 * follow the order of creation.
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
      /** Default: its own names. Pass those of the cluster if the projections go into a cluster. */
      readonly resources?: ResourceNames;
      /** Start of creation times, in milliseconds since the epoch. Default: 2026-01-01. */
      readonly startMs?: number;
    } = {},
  ) {
    this.resources = options.resources ?? new ResourceNames();
    this.projector = new PodProjector(this.resources, { images: true });
    this.#identities = new Identities(options.startMs ?? Date.UTC(2026, 0, 1));
  }

  /** Returns a pod as the API server returns it. */
  pod(options: PodOptions = {}): PodObject {
    return buildPod(options, this.#identities.next());
  }

  /** Returns the scheduler's projection of a pod. */
  projectedPod(options: PodOptions = {}): Pod {
    return this.projector.project(this.pod(options));
  }

  /** Returns `count` pods that differ only in name (`<name>-0` and so on) and identity. */
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

  /** Returns a node outside any cluster, with these pods. */
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

  /** Returns a PodGroup of Kubernetes itself, as the API server returns it. */
  nativePodGroup(options: NativePodGroupOptions = {}): object {
    return buildNativePodGroup(options, this.#identities.next());
  }

  projectedNativePodGroup(options: NativePodGroupOptions = {}): NativePodGroup {
    return projectNativePodGroup(this.nativePodGroup(options));
  }
}
