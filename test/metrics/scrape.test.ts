import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyMetric } from '../../scripts/metrics/every-metric.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { createScheduler } from '../../src/index.ts';
import type { RunningProcess } from '../../src/index.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';
import { poll } from '../planes/poll.ts';
import { samplesIn } from './samples.ts';
import type { Sample } from './samples.ts';

let plane: TestPlane;
let scheduler: RunningProcess;
let samples: readonly Sample[];

const isBound = async (): Promise<boolean> => {
  const pod = await plane.client.get<{ spec: { nodeName?: string } }>('/api/v1/namespaces/default/pods/worker');
  return pod.spec.nodeName !== undefined;
};

beforeAll(async () => {
  plane = await openEmbeddedPlane();
  const amounts = { cpu: '2', memory: '1Gi', pods: '10' };
  await plane.client.create('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a' },
    status: { allocatable: amounts, capacity: amounts },
  });
  scheduler = await createScheduler({ kubeconfig: plane.kubeconfigPath, logger: silentLogger });
  await plane.client.create('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'worker' },
    spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox' }] },
  });
  await poll(async () => ((await isBound()) ? undefined : 'not yet'), 'the pod is bound');
  const scrape = async (): Promise<readonly Sample[]> =>
    samplesIn(await (await fetch(`${scheduler.url}/metrics`)).text());
  const isWhole = async (): Promise<string | undefined> => {
    samples = await scrape();
    return samples.some(({ name }) => name.startsWith('tutti_crd')) ? undefined : 'no tutti_crd_compatible';
  };
  await poll(isWhole, 'the served schema has been read');
});
afterAll(async () => {
  await scheduler.stop();
  await plane.stop();
});

test('ME1 a scheduler process exports only documented metrics', () => {
  const names = new Set(everyMetric().scheduler.map(({ name }) => name));
  const own = samples.filter(({ name }) => !/^(process|nodejs)_/.test(name));
  const unknown = own.filter(({ name }) => !names.has(name) && !names.has(name.replace(/_(bucket|sum|count)$/, '')));
  expect(unknown).toEqual([]);
});

/** The series that the rules and the dashboard of the Kubernetes mixin read of a scheduler, if they apply here. */
const ofMixin: [name: string, label?: string, value?: RegExp][] = [
  ['scheduler_scheduling_attempt_duration_seconds_bucket', 'result', /^scheduled$/],
  ['scheduler_scheduling_attempt_duration_seconds_count'],
  ['scheduler_scheduling_algorithm_duration_seconds_bucket'],
  ['scheduler_scheduling_algorithm_duration_seconds_count'],
  ['scheduler_pod_scheduling_sli_duration_seconds_bucket', 'attempts', /^1$/],
  ['scheduler_framework_extension_point_duration_seconds_bucket', 'extension_point', /^Filter$/],
  ['scheduler_pending_pods', 'queue', /^unschedulable$/],
  ['rest_client_requests_total', 'code', /^2..$/],
  ['rest_client_request_duration_seconds_bucket', 'verb', /^POST$/],
  ['rest_client_request_duration_seconds_bucket', 'verb', /^GET$/],
  ['process_resident_memory_bytes'],
  ['process_cpu_seconds_total'],
];

test.each(ofMixin)('ME2 %s has data', (...[name, label, value]) => {
  const found = samples.filter(
    (sample) => sample.name === name && (label === undefined || value!.test(sample.labels[label]!)),
  );
  expect(found.length).toBeGreaterThan(0);
  for (const sample of found) expect(sample.value, name).toSatisfy(Number.isFinite);
});
