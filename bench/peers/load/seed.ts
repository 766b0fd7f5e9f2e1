import { setTimeout as sleep } from 'node:timers/promises';
import { podGroupDefinition } from '../../../src/api/pod-group-schema.ts';
import { monotonicNow } from '../monotonic-now.ts';
import type { ApiCaller } from './api-caller.ts';
import { groupPath, namespace, nodeManifest } from './manifests.ts';

interface NodeAnswer {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly taints?: readonly unknown[] };
}

/** Makes on an empty plane what every run on so many nodes begins with, whoever schedules. */
export async function seed(
  caller: ApiCaller,
  { nodes, nodeCpu }: { readonly nodes: number; readonly nodeCpu: number },
): Promise<void> {
  await caller.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await caller.each(nodes, async (index) => {
    const node = (await caller.call('POST', '/api/v1/nodes', nodeManifest(index, nodeCpu))) as NodeAnswer;
    // A new node is tainted until its kubelet reports; nothing else plays the kubelet here.
    if (node.spec?.taints !== undefined) {
      await caller.call('PATCH', `/api/v1/nodes/${node.metadata.name}`, { spec: { taints: null } });
    }
  });
  // Also for lone pods: scheduler-plugins waits for it before it schedules anything.
  await caller.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
  await untilPodGroupsAreServed(caller);
}

/** A resource is served a moment after its definition is accepted, or after the API server has found it at its start. */
export async function untilPodGroupsAreServed(caller: ApiCaller): Promise<void> {
  const deadline = monotonicNow() + 30_000;
  for (;;) {
    const answer = await caller.call('GET', groupPath.label).catch((error: unknown) => error);
    if (!(answer instanceof Error)) return;
    if (monotonicNow() > deadline) throw answer;
    await sleep(20);
  }
}
