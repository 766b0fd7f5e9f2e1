import { CoreV1Api, CustomObjectsApi, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerJson, answerStatus, MisbehavingServer, resetsConnection } from '../../test/planes/misbehaving-server.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ConflictError, isAmbiguous } from './api-errors.ts';
import { fixedEndpoint } from './endpoint.ts';
import { createTypedApi } from './http-library.ts';
import { KubeClient } from './kube-client.ts';
import { HttpTransport } from './http/http-transport.ts';

let server: MisbehavingServer;
let transport: HttpTransport;
let client: KubeClient;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  transport = new HttpTransport({ endpoint: fixedEndpoint(server.url) });
  client = new KubeClient({ transport, clock: new VirtualClock() });
});

afterEach(async () => {
  await transport.close();
  await server.close();
});

const binding = {
  name: 'a',
  namespace: 'default',
  body: { metadata: { name: 'a', uid: 'u' }, target: { kind: 'Node', name: 'n' } },
};

test('binds a pod through the generated class', async () => {
  const core = await createTypedApi(CoreV1Api, client, { lane: 'bind' });
  server.otherwise(answerJson({ kind: 'Status', status: 'Success' }, 201));
  await core.createNamespacedPodBinding(binding);
  expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/default/pods/a/binding' });
  expect(JSON.parse(server.requests[0]!.body)).toMatchObject(binding.body);
});

test('shares few connections between many bindings', async () => {
  const core = await createTypedApi(CoreV1Api, client);
  server.otherwise(answerJson({ kind: 'Status', status: 'Success' }, 201));
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 100 }, () => core.createNamespacedPodBinding(binding)));
  }
  expect(server.requests).toHaveLength(500);
  expect(server.connections).toBeLessThanOrEqual(64);
});

test('sends the patch type that the options set', async () => {
  const core = await createTypedApi(CoreV1Api, client);
  server.otherwise(answerJson({ kind: 'Pod', metadata: { name: 'a' } }));
  const options = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  const pod = await core.patchNamespacedPodStatus({ name: 'a', namespace: 'default', body: { status: {} } }, options);
  expect(pod.metadata?.name).toBe('a');
  expect(server.requests[0]!.headers['content-type']).toBe('application/strategic-merge-patch+json');
});

test('sends query parameters and the paths of custom objects', async () => {
  const custom = await createTypedApi(CustomObjectsApi, client);
  server.otherwise(answerJson({ items: [] }));
  await custom.listNamespacedCustomObject({
    group: 'scheduling.x-k8s.io',
    version: 'v1alpha1',
    namespace: 'default',
    plural: 'podgroups',
    labelSelector: 'a=b,c',
  });
  expect(server.requests[0]!.path).toBe('/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups');
  expect(server.requests[0]!.query.get('labelSelector')).toBe('a=b,c');
});

test('rejects with the typed errors of the client', async () => {
  const core = await createTypedApi(CoreV1Api, client);
  server.next(answerStatus(409, 'Conflict', 'pod a is already assigned to node m'), resetsConnection);
  await expect(core.createNamespacedPodBinding(binding)).rejects.toBeInstanceOf(ConflictError);
  await expect(core.createNamespacedPodBinding(binding)).rejects.toSatisfy(isAmbiguous);
});
