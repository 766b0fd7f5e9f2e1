import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../base/system-clock.ts';
import { KubeClient } from '../client/kube-client.ts';
import type { Transport, TransportRequest, TransportResponse } from '../client/transport.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { startPodGroupController } from './start-pod-group-controller.ts';
import type { RunningPodGroupController } from './start-pod-group-controller.ts';

const groupsPath = '/apis/scheduling.x-k8s.io/v1alpha1/podgroups';
const metadata = (name: string, more = {}): object => ({
  name,
  namespace: 'ns',
  uid: `uid-${name}`,
  resourceVersion: '1',
  ...more,
});

/** Serves no PodGroups of `scheduling.k8s.io`. Responds to two lists, to watches (which stay silent), and to patches, which it records. */
class ScriptedServer implements Transport {
  readonly patches: TransportRequest[] = [];
  podLists = 0;
  pods: readonly unknown[] = [];
  groups: readonly unknown[] = [];

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    const [path, query = ''] = request.path.split('?');
    if (path!.startsWith('/apis/scheduling.k8s.io')) return answer(404, { code: 404, reason: 'NotFound' });
    if (query.includes('watch=true')) return { status: 200, headers: {}, body: silence(signal!) };
    if (request.method === 'PATCH') {
      this.patches.push(request);
      const { status } = JSON.parse(request.body as string) as { status: object };
      return answer(200, { metadata: metadata('red', { resourceVersion: '2' }), spec: { minMember: 2 }, status });
    }
    if (path === groupsPath) return answer(200, { metadata: { resourceVersion: '1' }, items: this.groups });
    this.podLists++;
    return answer(200, { metadata: { resourceVersion: '1' }, items: this.pods });
  }

  async close(): Promise<void> {
    // There are no connections.
  }
}

function answer(status: number, body: unknown): TransportResponse {
  const text = new TextEncoder().encode(JSON.stringify(body));
  return {
    status,
    headers: {},
    body: (async function* () {
      yield text;
    })(),
  };
}

async function* silence(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield* [];
  await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

let running: RunningPodGroupController | undefined;
afterEach(() => running?.stop());

function start(server: ScriptedServer, logger: Logger = silentLogger): RunningPodGroupController {
  running = startPodGroupController({
    client: new KubeClient({ transport: server, clock: systemClock }),
    clock: systemClock,
    random: Math.random,
    logger,
    registry: createMetricRegistry({ processMetrics: false }),
    events: { record: () => undefined },
    settleMs: 1,
  });
  return running;
}

it('writes the status of a group from its pods, by a merge patch that fails if the cache is stale', async () => {
  const server = new ScriptedServer();
  const annotations = { 'scheduling.x-k8s.io/pod-group': 'red' };
  server.groups = [{ metadata: metadata('red'), spec: { minMember: 2 } }];
  server.pods = ['a', 'b'].map((name) => ({
    metadata: metadata(name, { annotations }),
    spec: { nodeName: 'node-a' },
    status: { phase: 'Running' },
  }));
  const controller = start(server);
  expect(controller.state()).toBe('PodGroups have not been listed yet');
  await expect.poll(() => server.patches).toHaveLength(1);
  const [patch] = server.patches;
  expect(patch!.path).toBe('/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ns/podgroups/red/status');
  expect(patch!.headers['content-type']).toBe('application/merge-patch+json');
  expect(JSON.parse(patch!.body as string)).toMatchObject({
    metadata: { resourceVersion: '1' },
    status: { phase: 'Running', running: 2 },
  });
  expect(controller.state()).toBe(true);
});

it('skips and logs malformed objects, and continues with the others', async () => {
  const server = new ScriptedServer();
  server.groups = [
    { metadata: metadata('broken'), spec: { minMember: 0 } },
    { metadata: metadata('red'), spec: { minMember: 2 } },
  ];
  server.pods = [{ metadata: { namespace: 'ns', name: 7 } }];
  const warnings: unknown[] = [];
  start(server, { ...silentLogger, warn: (message, fields) => warnings.push({ message, ...fields }) });
  await expect.poll(() => server.patches.map(({ path }) => path)).toEqual([expect.stringContaining('/red/status')]);
  expect(warnings).toContainEqual(
    expect.objectContaining({
      message: 'skipped a malformed object',
      where: 'ns/broken',
      error: expect.stringContaining('spec.minMember must be a whole 32-bit number of at least 1, not 0') as string,
    }),
  );
});
