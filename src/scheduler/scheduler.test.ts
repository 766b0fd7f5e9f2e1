import { afterEach, beforeEach, expect, it } from 'vitest';
import { podGroupPath } from '../api/pod-group.ts';
import { podGroupDefinition } from '../api/pod-group-schema.ts';
import { podGroupLabel } from '../api/pod-group-membership.ts';
import { systemClock } from '../base/system-clock.ts';
import { KubeClient } from '../client/kube-client.ts';
import { defaultProfile, defaultReservations } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import { EmbeddedApiServer } from '../plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../plane/apiserver/in-process-transport.ts';
import type { PodBinding } from '../framework/plugin-handle.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { pluginRegistry } from '../plugins/registry.ts';
import { Scheduler } from './scheduler.ts';
import type { SchedulerOptions } from './scheduler.ts';
import { answeredPorts } from './testing/answered-ports.ts';

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
  const scheduler = makeScheduler(defaultProfile('tutti'), {
    async bind(binding) {
      await new Promise<void>((turn) => queued.push({ binding, turn }));
      binding.mayBeSent!();
      sent.push(binding.name);
    },
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

it('reads Jobs if its profile has reservations, and no Jobs otherwise', async () => {
  const binder = { bind: (): Promise<void> => Promise.resolve() };
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'train' } };
  await client.create(jobs, { ...job, spec: { activeDeadlineSeconds: 600, template } });
  const profile = defaultProfile('tutti');
  const [without, withReservations] = [profile, { ...profile, reservations: defaultReservations }].map((each) =>
    makeScheduler(each, binder),
  ) as [Scheduler, Scheduler];
  for (const scheduler of [without, withReservations]) await scheduler.start();
  const seen = ({ state }: Scheduler): unknown => state.cluster.listed.get('Job', 'default', 'train');
  expect(seen(withReservations)).toMatchObject({ deadlineSeconds: 600, startedAt: 0 });
  await client.patch(`${jobs}/train/status`, 'merge', { status: { startTime: '2026-01-01T00:00:00Z' } });
  await expect.poll(() => seen(withReservations)).toMatchObject({ startedAt: Date.UTC(2026, 0, 1) / 1_000 });
  await client.delete(`${jobs}/train`, { propagationPolicy: 'Background' });
  await expect.poll(() => seen(withReservations)).toBeUndefined();
  expect(without.state.cluster.listed.revision('Job')).toBe(0);
  for (const scheduler of [without, withReservations]) await scheduler.stop();
});

/** A scheduler that writes nothing except what the binder does. */
function makeScheduler(profile: ProfileConfiguration, binder: SchedulerOptions['ports']['binder']): Scheduler {
  return new Scheduler({
    client,
    ports: {
      ...answeredPorts,
      binder,
      verdicts: { write: () => Promise.resolve('written') },
    },
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    registry: createMetricRegistry({ processMetrics: false }),
    profiles: [profile],
    plugins: pluginRegistry,
    identity: 'test',
    defer: (callback) => void setImmediate(callback),
  });
}

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
