import type { SelectableNode } from '../../api/label-selector.ts';
import { AlreadyExistsError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import type { KubeletPod } from './kubelet-pod.ts';
import { affinityRejection, allowsNode } from './node-affinity.ts';
import { allocatableOf, labelsOf, nodeObject } from './node-object.ts';
import type { SimulatedNodeSpec } from './node-object.ts';
import { NodeCapacity } from './node-capacity.ts';
import type { Rejection } from './node-capacity.ts';
import type { PodHost } from './pod-worker.ts';

export interface SimulatedNodeOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'patch'>;
  readonly spec: SimulatedNodeSpec;
  readonly hostIP: string;
  readonly signal: AbortSignal;
}

interface RawNode {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
}

/** One node: its object in the API, its capacity, and its admission of pods. */
export class SimulatedNode implements PodHost {
  readonly hostIP: string;
  readonly #options: SimulatedNodeOptions;
  readonly #capacity: NodeCapacity;
  #labels: Readonly<Record<string, string>>;

  constructor(options: SimulatedNodeOptions) {
    this.#options = options;
    this.hostIP = options.hostIP;
    this.#capacity = new NodeCapacity(allocatableOf(options.spec));
    this.#labels = labelsOf(options.spec);
  }

  get name(): string {
    return this.#options.spec.name;
  }

  /**
   * Creates the Node, or takes over an existing Node with its name. With `uid`, it takes over only the Node with this uid,
   * and rejects with NotFoundError or ConflictError if that Node no longer exists. Rejects with the client's errors.
   */
  async register(now: number, uid?: string): Promise<void> {
    const { client, spec, signal } = this.#options;
    const object = nodeObject(spec, this.hostIP, now);
    if (uid === undefined) {
      try {
        this.#readLabels(await client.create('/api/v1/nodes', object, { signal }));
        return;
      } catch (error) {
        if (!(error instanceof AlreadyExistsError)) throw error;
      }
    }
    const metadata = { uid, labels: labelsOf(spec) };
    await client.patch(this.#path, 'merge', { metadata, spec: object.spec }, { signal });
    const patch = { metadata: { uid }, status: object.status };
    this.#readLabels(await client.patch(`${this.#path}/status`, 'merge', patch, { signal }));
  }

  async admit(pod: KubeletPod): Promise<Rejection | undefined> {
    if (!this.#allows(pod)) {
      // Labels may have changed, and the scheduler may have seen the change before this node.
      const raw = await this.#options.client.get(this.#path, { signal: this.#options.signal }).catch(() => undefined);
      this.#options.signal.throwIfAborted();
      if (raw !== undefined) this.#readLabels(raw);
    }
    const rejection = this.#capacity.admit(pod.uid, pod.requests);
    if (rejection !== undefined || this.#allows(pod)) return rejection;
    this.#capacity.release(pod.uid);
    return affinityRejection;
  }

  take(pod: KubeletPod): void {
    this.#capacity.take(pod.uid, pod.requests);
  }

  release(pod: KubeletPod): void {
    this.#capacity.release(pod.uid);
  }

  get #path(): string {
    return `/api/v1/nodes/${encodeURIComponent(this.name)}`;
  }

  #allows(pod: KubeletPod): boolean {
    const node: SelectableNode = { name: this.name, labels: this.#labels };
    return allowsNode(pod, node);
  }

  #readLabels(raw: unknown): void {
    const { metadata } = raw as RawNode;
    this.#labels = metadata?.labels ?? {};
  }
}
