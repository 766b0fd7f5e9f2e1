import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import { StoreRecord } from '../world/record.ts';
import type { WatchedResource } from '../scenario.ts';
import type { Committed } from '../world/record.ts';
import type { Evidence } from './evidence.ts';

/** A store record for tests. The test adds changes one by one; each gets the next version and, unless `at` is set, the next millisecond. */
export class WrittenRecord {
  readonly record = new StoreRecord();
  /** Time of the changes from now on. */
  at: number | undefined;
  /** Who makes the changes from now on. */
  by = 'world';
  #version = 0;

  /** Version and time of the latest change. */
  get version(): number {
    return this.#version;
  }

  add(resource: string, key: string, object: JsonObject): Committed {
    const { uid = key } = object.metadata as { readonly uid?: string };
    return this.#note(resource, { type: 'ADDED', object: { key, uid, object } });
  }

  change(resource: 'pods' | 'nodes' | `podgroups.${string}`, key: string, object: JsonObject): Committed {
    const { uid = key } = object.metadata as { readonly uid?: string };
    const known = resource === 'podgroups.scheduling.k8s.io' ? 'nativepodgroups' : resource.split('.')[0]!;
    const previous = { key, uid, object: this.record.get(known as WatchedResource, key)! };
    return this.#note(resource, { type: 'MODIFIED', object: { key, uid, object }, previous });
  }

  remove(resource: 'pods' | 'nodes', key: string): void {
    const object = this.record.get(resource, key) as any;
    const gone = { key, uid: object.metadata.uid ?? key, object };
    this.#note(resource, { type: 'DELETED', object: gone, previous: gone });
  }

  #note(resource: string, change: any): Committed {
    const resourceVersion = ++this.#version;
    return this.record.add(this.at ?? resourceVersion, resource, { ...change, resourceVersion }, this.by);
  }
}

/** Returns the evidence of a run without faults or delays in which no group has started, with these parts. */
export function calmEvidence(parts: Pick<Evidence, 'record' | 'now' | 'violated'> & Partial<Evidence>): Evidence {
  return {
    seenBy: () => 0,
    promptFrom: () => 0,
    lagMs: () => 0,
    knownFrom: () => 0,
    started: new Set(),
    isStartMissed: () => false,
    excused: () => undefined,
    ...parts,
  };
}

/** Returns a node with capacity for `pods` pods without requests. */
export function nodeFor(pods: number, name = 'a'): JsonObject {
  return { metadata: { name }, status: { allocatable: { cpu: '8', memory: '8Gi', pods: String(pods) } } };
}

/** Returns a member that is bound, or that waits and has a condition with the reason. */
export function memberOf(
  group: string,
  { name, uid = name, node }: { name: string; uid?: string; node?: string },
): JsonObject {
  const labels = { 'scheduling.x-k8s.io/pod-group': group };
  const annotations: Record<string, string> = node === undefined ? {} : { 'tutti.dev/pod-group-uid': group };
  const rejected = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no capacity' };
  return {
    metadata: { namespace: 'default', name, uid, labels, annotations },
    spec: { schedulerName: 'tutti', containers: [{}], ...(node !== undefined && { nodeName: node }) },
    status: { conditions: node === undefined ? [rejected] : [] },
  };
}

/** Like `memberOf`, of a group of Kubernetes itself. */
export function nativeMemberOf(group: string, pod: Parameters<typeof memberOf>[1]): JsonObject {
  const { metadata, spec, ...rest }: any = memberOf(group, pod);
  return {
    metadata: { ...metadata, labels: {} },
    spec: { ...spec, schedulingGroup: { podGroupName: group } },
    ...rest,
  };
}
