import {
  ApiException,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  PatchStrategy,
  V1MicroTime,
  makeInformer,
  setHeaderOptions,
} from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deferred } from '../../base/deferred.ts';
import { seededRandom } from '../../base/random.ts';
import { systemClock } from '../../base/system-clock.ts';
import { EmbeddedApiServer } from './embedded-api-server.ts';
import { listenHttp } from './listen-http.ts';
import type { HttpListener } from './listen-http.ts';
import { definitionsPath, podGroupDefinition, podGroupManifest } from './testing/manifests.ts';

const namespace = 'default';

function podNamed(name: string): V1Pod {
  return { metadata: { name }, spec: { containers: [{ name: 'main', image: 'example.test/app:1' }] } };
}

describe('@kubernetes/client-node', () => {
  let server: EmbeddedApiServer;
  let listener: HttpListener;
  let config: KubeConfig;
  let core: CoreV1Api;

  beforeEach(async () => {
    server = new EmbeddedApiServer({ clock: systemClock, random: seededRandom(1) });
    listener = await listenHttp(server, 0);
    config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'embedded', server: listener.url, skipTLSVerify: true }],
      users: [{ name: 'anyone' }],
      contexts: [{ name: 'embedded', cluster: 'embedded', user: 'anyone' }],
      currentContext: 'embedded',
    });
    core = config.makeApiClient(CoreV1Api);
  });

  afterEach(async () => {
    server.close();
    await listener.close();
  });

  it('creates, binds, patches and deletes pods', async () => {
    const created = await core.createNamespacedPod({ namespace, body: podNamed('p') });
    expect(created.status?.phase).toBe('Pending');
    await core.createNamespacedPodBinding({
      name: 'p',
      namespace,
      body: { metadata: { name: 'p', uid: created.metadata!.uid! }, target: { kind: 'Node', name: 'n1' } },
    });
    await core.patchNamespacedPodStatus(
      { name: 'p', namespace, body: { status: { phase: 'Running' } } },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    );
    const read = await core.readNamespacedPod({ name: 'p', namespace });
    expect(read).toMatchObject({ spec: { nodeName: 'n1' }, status: { phase: 'Running' } });
    expect(read.metadata?.creationTimestamp).toBeInstanceOf(Date);
    const rejected = await core
      .createNamespacedPodBinding({ name: 'p', namespace, body: { metadata: { name: 'p' }, target: { name: 'n2' } } })
      .catch((error: unknown) => error);
    expect(rejected).toBeInstanceOf(ApiException);
    expect((rejected as ApiException<unknown>).code).toBe(409);
    await core.deleteNamespacedPod({ name: 'p', namespace, gracePeriodSeconds: 0 });
    expect((await core.listNamespacedPod({ namespace })).items).toEqual([]);
  });

  it('follows pods with its informer', async () => {
    await core.createNamespacedPod({ namespace, body: podNamed('before') });
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const informer = makeInformer(config, path, () => core.listNamespacedPod({ namespace }));
    const added = { before: deferred(), after: deferred() };
    const deleted = deferred();
    informer.on('add', (pod) => added[pod.metadata!.name as keyof typeof added].resolve());
    informer.on('delete', () => deleted.resolve());
    await informer.start();
    await added.before.promise;
    await core.createNamespacedPod({ namespace, body: podNamed('after') });
    await added.after.promise;
    await core.deleteNamespacedPod({ name: 'after', namespace });
    await deleted.promise;
    await informer.stop();
  });

  it('renews a Lease, and gets a conflict for a stale version', async () => {
    const leases = config.makeApiClient(CoordinationV1Api);
    const spec = { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: new V1MicroTime() };
    const lease = await leases.createNamespacedLease({ namespace, body: { metadata: { name: 'l' }, spec } });
    const body = { ...lease, spec: { ...spec, renewTime: new V1MicroTime() } };
    await leases.replaceNamespacedLease({ name: 'l', namespace, body });
    const late = await leases.replaceNamespacedLease({ name: 'l', namespace, body }).catch((error: unknown) => error);
    expect((late as ApiException<unknown>).code).toBe(409);
  });

  it('works on custom resources', async () => {
    await fetch(`${listener.url}${definitionsPath}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(podGroupDefinition()),
    });
    const custom = config.makeApiClient(CustomObjectsApi);
    const group = { group: 'scheduling.x-k8s.io', version: 'v1alpha1', namespace, plural: 'podgroups' };
    await custom.createNamespacedCustomObject({ ...group, body: podGroupManifest('red') });
    await custom.patchNamespacedCustomObjectStatus(
      { ...group, name: 'red', body: { status: { phase: 'Running' } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    expect(await custom.getNamespacedCustomObject({ ...group, name: 'red' })).toMatchObject({
      spec: { minMember: 2 },
      status: { phase: 'Running' },
    });
  });
});
