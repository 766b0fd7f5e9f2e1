import { setTimeout as sleep } from 'node:timers/promises';
import { podGroupDefinition } from '../../../src/api/pod-group-schema.ts';
import { monotonicNow } from '../monotonic-now.ts';
import { victimCount } from '../workload.ts';
import type { ApiCaller } from './api-caller.ts';
import type { GroupKind, Seed } from './load-protocol.ts';
import {
  groupManifest,
  groupPath,
  namespace,
  nodeManifest,
  podPath,
  priorityClassManifests,
  victimManifest,
  victimNamespace,
} from './manifests.ts';
import type { PriorityClassName } from './manifests.ts';

interface NodeAnswer {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly taints?: readonly unknown[] };
}

/** Creates the initial objects of a run on an empty plane. */
export async function seed(caller: ApiCaller, initial: Seed & { readonly schedulerName: string }): Promise<void> {
  const { nodes, nodeCpu } = initial;
  for (const name of [namespace, victimNamespace])
    await caller.call('POST', '/api/v1/namespaces', { metadata: { name } });
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
  await createVictims(caller, initial);
}

async function createVictims(
  caller: ApiCaller,
  { nodes, victims, groups, schedulerName }: Seed & { readonly schedulerName: string },
): Promise<void> {
  if (victims === undefined) return;
  for (const manifest of priorityClassManifests) {
    await caller.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', manifest);
  }
  const count = victimCount({ nodes, victims });
  await createGroups(caller, groups, victimNamespace, count / victims.gangSize, victims.gangSize, 'low');
  await caller.each(count, (index) =>
    caller.call('POST', podPath(victimNamespace), victimManifest({ groups, schedulerName }, victims, index, nodes)),
  );
}

/** Creates this number of groups, all with the same size. */
export async function createGroups(
  caller: ApiCaller,
  kind: GroupKind,
  inNamespace: string,
  gangs: number,
  gangSize: number,
  priority?: PriorityClassName,
): Promise<void> {
  if (kind === 'none') return;
  await caller.each(gangs, (gang) =>
    caller.call('POST', groupPath(kind, inNamespace), groupManifest(kind, gang, gangSize, priority)),
  );
}

/** Waits until the API server serves a resource, which happens a moment after it accepts the CRD or finds the CRD at its start. */
export async function untilPodGroupsAreServed(caller: ApiCaller): Promise<void> {
  const deadline = monotonicNow() + 30_000;
  for (;;) {
    const answer = await caller.call('GET', groupPath('label', namespace)).catch((error: unknown) => error);
    if (!(answer instanceof Error)) return;
    if (monotonicNow() > deadline) throw answer;
    await sleep(20);
  }
}
