import { afterEach, expect, it } from 'vitest';
import type { Condition } from '../../api/condition.ts';
import { nativePodGroupPath } from '../../api/native-pod-group.ts';
import type { NativeVersion } from '../../api/native-pod-group.ts';
import { podGroupDefinition } from '../../api/pod-group-schema.ts';
import { seededRandom } from '../../base/random.ts';
import { systemClock } from '../../base/system-clock.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { createMetricRegistry } from '../../observability/metric-registry.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { EmbeddedApiServer } from '../../plane/apiserver/embedded-api-server.ts';
import type { Intercept } from '../../plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../../plane/apiserver/in-process-transport.ts';
import { startPodGroupController } from '../start-pod-group-controller.ts';
import type { RunningPodGroupController } from '../start-pod-group-controller.ts';

interface Group {
  readonly metadata: { readonly resourceVersion: string; readonly finalizers?: readonly string[] };
  readonly spec: object;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

let running: RunningPodGroupController | undefined;
let server: EmbeddedApiServer;
afterEach(async () => {
  await running?.stop();
  server.close();
});

function connect(nativeGangs: 'v1beta1' | 'v1alpha2' = 'v1beta1', intercept?: Intercept): KubeClient {
  server = new EmbeddedApiServer({
    clock: systemClock,
    random: seededRandom(1),
    nativeGangs,
    ...(intercept && { intercept }),
  });
  return new KubeClient({ transport: new InProcessTransport(server), clock: systemClock });
}

async function start(client: KubeClient, schedulerNames?: readonly string[]): Promise<void> {
  running = startPodGroupController({
    ...{ client, clock: systemClock, random: Math.random, logger: silentLogger, schedulerNames, settleMs: 1 },
    registry: createMetricRegistry({ processMetrics: false }),
    events: { record: () => undefined },
  });
  await running.synced();
}

async function createGroup(client: KubeClient, version: NativeVersion = 'v1beta1', name = 'red'): Promise<Group> {
  return client.create(`/apis/scheduling.k8s.io/${version}/namespaces/default/podgroups`, {
    metadata: { name, finalizers: ['example.com/keep'] },
    spec: { schedulingPolicy: { gang: { minCount: 2 } } },
  });
}

async function createPods(client: KubeClient, schedulerName: string, group = 'red'): Promise<void> {
  for (const name of [`${group}-0`, `${group}-1`])
    await client.create('/api/v1/namespaces/default/pods', {
      metadata: { name },
      spec: {
        schedulerName,
        nodeName: 'a',
        schedulingGroup: { podGroupName: group },
        containers: [{ name: 'main', image: 'registry.example/main:1' }],
      },
    });
}

const read = (client: KubeClient, version: NativeVersion = 'v1beta1', name = 'red'): Promise<Group> =>
  client.get(nativePodGroupPath(version, 'default', name));

it('writes the condition beside those of others, and changes no other field', async () => {
  const client = connect();
  const { metadata, spec } = await createGroup(client);
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const other = { type: 'DisruptionTarget', status: 'False', reason: 'NotYet', message: 'a', lastTransitionTime };
  const path = `${nativePodGroupPath('v1beta1', 'default', 'red')}/status`;
  await client.patch(path, 'strategic-merge', { status: { conditions: [other] } });
  await createPods(client, 'tutti');
  await start(client);
  await expect.poll(async () => (await read(client)).status?.conditions).toHaveLength(2);
  const group = await read(client);
  expect(group.status!.conditions).toEqual(
    expect.arrayContaining([
      other,
      {
        type: 'PodGroupInitiallyScheduled',
        status: 'True',
        reason: 'Scheduled',
        message: '',
        lastTransitionTime: expect.any(String) as string,
      },
    ]),
  );
  expect(group.metadata.finalizers).toEqual(metadata.finalizers);
  expect(group.spec).toEqual(spec);
});

it('writes the condition in the version that the server has', async () => {
  const client = connect('v1alpha2');
  await createGroup(client, 'v1alpha2');
  await createPods(client, 'tutti');
  await start(client);
  await expect.poll(async () => (await read(client, 'v1alpha2')).status?.conditions).toHaveLength(1);
});

it('leaves groups of another scheduler as they are', async () => {
  const client = connect();
  const { metadata } = await createGroup(client);
  await createPods(client, 'default-scheduler');
  await createGroup(client, 'v1beta1', 'ours');
  await createPods(client, 'tutti', 'ours');
  await start(client);
  await expect.poll(async () => (await read(client, 'v1beta1', 'ours')).status?.conditions).toHaveLength(1);
  expect((await read(client)).metadata.resourceVersion).toBe(metadata.resourceVersion);
});

it('does not watch these PodGroups without the name of a scheduler', async () => {
  const paths: string[] = [];
  const client = connect('v1beta1', ({ path }, proceed) => {
    paths.push(path);
    return proceed();
  });
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
  await start(client, []);
  expect(running!.state()).toBe(true);
  expect(paths.filter((path) => path.startsWith('/apis/scheduling.k8s.io'))).toEqual([]);
});
