import { setTimeout as sleep } from 'node:timers/promises';
import { podGroupDefinition } from '../../../src/api/pod-group-schema.ts';
import { monotonicNow } from '../monotonic-now.ts';
import type { ApiCaller } from './api-caller.ts';
import { groupPath, namespace, nodeManifest } from './manifests.ts';

interface NodeAnswer {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly taints?: readonly unknown[] };
}

/** Creates the initial objects of every run with these nodes on an empty plane. They are the same for all schedulers. */
export async function seed(
  caller: ApiCaller,
  { nodes, nodeCpu }: { readonly nodes: number; readonly nodeCpu: number },
): Promise<void> {
  await caller.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await caller.each(nodes, async (index) => {
    const node = (await caller.call('POST', '/api/v1/nodes', nodeManifest(index, nodeCpu))) as NodeAnswer;
    // A new node has a taint until its kubelet reports. There is no kubelet here.
    if (node.spec?.taints !== undefined) {
      await caller.call('PATCH', `/api/v1/nodes/${node.metadata.name}`, { spec: { taints: null } });
    }
  });
  // Also for single pods: scheduler-plugins waits for the CRD before it schedules anything.
  await caller.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
  await untilPodGroupsAreServed(caller);
}

/** Waits until the API server serves a resource, which happens a moment after it accepts the CRD or finds the CRD at its start. */
export async function untilPodGroupsAreServed(caller: ApiCaller): Promise<void> {
  const deadline = monotonicNow() + 30_000;
  for (;;) {
    const answer = await caller.call('GET', groupPath.label).catch((error: unknown) => error);
    if (!(answer instanceof Error)) return;
    if (monotonicNow() > deadline) throw answer;
    await sleep(20);
  }
}
