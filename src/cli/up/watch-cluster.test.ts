import { afterEach, expect, it } from 'vitest';
import { podGroupDefinition } from '../../api/pod-group-schema.ts';
import { systemClock } from '../../base/system-clock.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { EmbeddedApiServer } from '../../plane/apiserver/embedded-api-server.ts';
import type { Intercept } from '../../plane/apiserver/embedded-api-server.ts';
import { jsonResponse } from '../../plane/apiserver/http/response.ts';
import { InProcessTransport } from '../../plane/apiserver/in-process-transport.ts';
import type { ClusterChange } from './story.ts';
import { watchCluster } from './watch-cluster.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Watched {
  readonly client: KubeClient;
  readonly changes: ClusterChange[];
  readonly problems: string[];
}

/** Watches a real API server in the same process. */
async function watched(intercept?: Intercept): Promise<Watched> {
  const server = new EmbeddedApiServer({ clock: systemClock, random: Math.random, ...(intercept && { intercept }) });
  closing.push(() => Promise.resolve(server.close()));
  const client = new KubeClient({ transport: new InProcessTransport(server), clock: systemClock });
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
  const changes: ClusterChange[] = [];
  const problems: string[] = [];
  const watch = await watchCluster({
    client,
    clock: systemClock,
    random: () => 0,
    onChange: (change) => changes.push(change),
    onProblem: (resource) => problems.push(resource),
  });
  closing.push(() => watch.stop());
  return { client, changes, problems };
}

const pods = '/api/v1/namespaces/default/pods';
const podObject = { metadata: { name: 'red-0' }, spec: { containers: [{ name: 'a', image: 'a' }] } };

it('reports pods and groups when they are created, changed and deleted', async () => {
  const { client, changes } = await watched();
  await client.create('/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups', {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name: 'red' },
    spec: { minMember: 3 },
  });
  await client.create(pods, podObject);
  await client.delete(`${pods}/red-0`, { gracePeriodSeconds: 0 });
  const key = 'default/red-0';
  await expect.poll(() => changes).toContainEqual({ kind: 'pod-gone', key });
  const seen = { minMember: 3 };
  await expect.poll(() => changes).toContainEqual({ kind: 'group', group: expect.objectContaining(seen) as unknown });
  expect(changes).toContainEqual({ kind: 'pod', pod: expect.objectContaining({ key }) as unknown });
});

it('retries a watch that the API server rejected', async () => {
  let rejections = 2;
  const { client, changes, problems } = await watched((request) => {
    const isWatch = request.path.startsWith('/api/v1/pods') && request.path.includes('watch=true');
    if (!isWatch || rejections === 0) return undefined;
    rejections--;
    return jsonResponse({ kind: 'Status', code: 500, message: 'out of order' }, { status: 500 });
  });
  await client.create(pods, podObject);
  await expect.poll(() => changes.map(({ kind }) => kind)).toContain('pod');
  expect(problems).toEqual(['pods', 'pods']);
});
