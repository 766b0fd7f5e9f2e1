import type { Condition } from '../../api/condition.ts';
import { nativePodGroupPath } from '../../api/native-pod-group.ts';
import type { NativePodGroup, NativeVersion } from '../../api/native-pod-group.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import type { NativeConditionWriter } from './native-status-controller.ts';

/**
 * Writes a condition by strategic merge patch on the status subresource: the API server merges conditions by type, so those of other types
 * stay. The resourceVersion in the patch turns a stale write into a conflict, and so does a group of this name that was created since.
 */
export class NativeConditionClient implements NativeConditionWriter {
  readonly #client: Pick<KubeClient, 'patch'>;
  readonly #version: () => NativeVersion;

  /** `version`: the version of the API that the server serves now. */
  constructor(client: Pick<KubeClient, 'patch'>, version: () => NativeVersion) {
    this.#client = client;
    this.#version = version;
  }

  async writeCondition(group: NativePodGroup, condition: Condition, signal: AbortSignal): Promise<void> {
    const { uid, namespace, name, resourceVersion } = group;
    const path = `${nativePodGroupPath(this.#version(), namespace, name)}/status`;
    const body = { metadata: { uid, resourceVersion }, status: { conditions: [condition] } };
    await this.#client.patch(path, 'strategic-merge', body, { signal, lane: 'condition' });
  }
}
