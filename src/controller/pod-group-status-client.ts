import { podGroupPath, projectPodGroup } from '../api/pod-group.ts';
import type { PodGroup } from '../api/pod-group.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { PodGroupStatusWriter } from './pod-group-controller.ts';
import type { StatusPatch } from './status-patch.ts';

/** Writes statuses by merge patch on the status subresource. The resourceVersion in the patch turns a stale write into a conflict. */
export class PodGroupStatusClient implements PodGroupStatusWriter {
  readonly #client: Pick<KubeClient, 'patch'>;

  constructor(client: Pick<KubeClient, 'patch'>) {
    this.#client = client;
  }

  async patchStatus(group: PodGroup, patch: StatusPatch, signal: AbortSignal): Promise<PodGroup> {
    const path = `${podGroupPath(group.namespace, group.name)}/status`;
    const body = { metadata: { resourceVersion: group.resourceVersion }, status: patch };
    return projectPodGroup(await this.#client.patch(path, 'merge', body, { signal, lane: 'condition' }));
  }
}
