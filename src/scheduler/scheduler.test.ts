import { afterEach, beforeEach, expect, it } from 'vitest';
import { podGroupPath } from '../api/pod-group.ts';
import { podGroupDefinition } from '../api/pod-group-schema.ts';
import { podGroupLabel } from '../api/pod-group-membership.ts';
import { systemClock } from '../base/system-clock.ts';
import { KubeClient } from '../client/kube-client.ts';
import { defaultProfile } from '../config/scheduler-configuration.ts';
import { EmbeddedApiServer } from '../plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../plane/apiserver/in-process-transport.ts';
import type { PodBinding } from '../framework/plugin-handle.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { pluginRegistry } from '../plugins/registry.ts';
import { Scheduler } from './scheduler.ts';

const pods = '/api/v1/namespaces/default/pods';

let server: EmbeddedApiServer;
let client: KubeClient;

beforeEach(async () => {
  server = new EmbeddedApiServer({ clock: systemClock, random: Math.random });
  client = new KubeClient({ transport: new InProcessTransport(server), clock: systemClock });
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
});

afterEach(() => server.close());

/** A binding that waits for its turn. */
interface QueuedBinding {
  readonly binding: PodBinding;
  readonly turn: () => void;
}

it('a scheduler that stops in the middle of a gang still sees a deleted member, and sends no further bindings', async () => {
  const queued: QueuedBinding[] = [];
  const sent: string[] = [];
  const scheduler = new Scheduler({
    client,
    ports: {
      binder: {
        async bind(binding) {
          await new Promise<void>((turn) => queued.push({ binding, turn }));
          binding.mayBeSent!();
          sent.push(binding.name);
        },
      },
      verdicts: { write: () => Promise.resolve('written') },
      events: { record: () => undefined },
      evictor: {
        mark: () => Promise.resolve(true),
        unmark: () => Promise.resolve(),
        evict: () => Promise.resolve(),
        release: () => Promise.resolve('going'),
      },
      volumes: { bind: () => Promise.resolve('1'), provision: () => Promise.resolve('1') },
    },
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    registry: createMetricRegistry({ processMetrics: false }),
    profiles: [defaultProfile('tutti')],
    plugins: pluginRegistry,
    identity: 'test',
    defer: (callback) => void setImmediate(callback),
  });
  await createGangOfThree();
  await scheduler.start();
  await expect.poll(() => queued.length).toBe(3);
  const [first, second, third] = queued as [QueuedBinding, QueuedBinding, QueuedBinding];
  first.turn();
  await expect.poll(() => sent).toHaveLength(1);
  const stopped = scheduler.stop({ drainMs: 60_000 });
  await client.delete(`${pods}/${third.binding.name}`, { gracePeriodSeconds: 0 });
  await expect.poll(() => scheduler.state.cluster.pod(third.binding.uid)).toBeUndefined();
  second.turn();
  third.turn();
  expect(await stopped).toBe(true);
  expect(sent).toEqual([first.binding.name]);
});

async function createGangOfThree(): Promise<void> {
  const amounts = { cpu: '4', memory: '4Gi', pods: '10' };
  const node = { metadata: { name: 'node' }, status: { allocatable: amounts, capacity: amounts } };
  await client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', ...node });
  const group = { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', metadata: { name: 'red' } };
  await client.create(podGroupPath('default'), { ...group, spec: { minMember: 3 } });
  for (let member = 0; member < 3; member++) {
    await client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `red-${member}`, labels: { [podGroupLabel]: 'red' } },
      spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox' }] },
    });
  }
}
