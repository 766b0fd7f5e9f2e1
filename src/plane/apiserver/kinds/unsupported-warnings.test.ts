import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { definitionsPath, nodeManifest, podGroupDefinition, podManifest, podsPath } from '../testing/manifests.ts';

describe('warnings', () => {
  it('name the fields of a pod that the plane does not act on', async () => {
    const probe = { tcpSocket: { port: 80 } };
    const pod = podManifest('a', { containers: [{ name: 'main', image: 'i', readinessProbe: probe }] });
    const { status, headers } = await new ApiClient().create(podsPath, pod);
    expect(status).toBe(201);
    expect(headers.warning).toBe(
      '299 - "spec.containers[0].readinessProbe: simulated pods run no containers: the probe is not run, and the pod is ready when it runs"',
    );
  });

  it('are absent for a pod that the plane fully simulates', async () => {
    expect((await new ApiClient().create(podsPath, podManifest('a'))).headers).not.toHaveProperty('warning');
  });

  it('name a field that an update adds, once', async () => {
    const client = new ApiClient();
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'i' }] } };
    await client.mustCreate(path, {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template },
    });
    const first = await client.patch(`${path}/d`, 'merge', {
      spec: { minReadySeconds: 5, strategy: { rollingUpdate: { maxSurge: 1 } } },
    });
    expect(first.headers.warning).toContain('spec.minReadySeconds: the embedded plane does not act on this field');
    expect(first.headers.warning).toContain('spec.strategy.rollingUpdate: the embedded plane');
    const second = await client.patch(`${path}/d`, 'merge', { spec: { replicas: 2 } });
    expect(second.headers).not.toHaveProperty('warning');
    const replaced = structuredClone(second.body);
    replaced.spec.template.spec.containers[0].lifecycle = {};
    expect((await client.replace(`${path}/d`, replaced)).headers.warning).toBe(
      '299 - "spec.template.spec.containers[0].lifecycle: simulated pods run no containers: the hooks are not run"',
    );
  });

  it('state that an applied Node keeps its size', async () => {
    const client = new ApiClient();
    const node = { ...nodeManifest('a'), status: { capacity: { cpu: '4' } } };
    await client.mustCreate('/api/v1/nodes', node);
    const larger = await client.patch('/api/v1/nodes/a', 'merge', { status: { capacity: { cpu: 8 } } });
    expect(larger.headers.warning).toBe(
      '299 - "status.capacity: the embedded plane sizes a node when the Node is created: delete the Node and apply it again"',
    );
    expect(larger.body.status.capacity.cpu).toBe('4');
    expect((await client.replace('/api/v1/nodes/a', node)).headers).not.toHaveProperty('warning');
    const labels = await client.patch('/api/v1/nodes/a', 'merge', { metadata: { labels: { a: 'b' } } });
    expect(labels.headers).not.toHaveProperty('warning');
    const status = await client.patch('/api/v1/nodes/a/status', 'merge', { status: { capacity: { cpu: 8 } } });
    expect(status.headers).not.toHaveProperty('warning');
  });

  it('state that a StorageClass with another provisioner gets no volumes', async () => {
    const client = new ApiClient();
    const path = '/apis/storage.k8s.io/v1/storageclasses';
    const created = await client.create(path, { metadata: { name: 'a' }, provisioner: 'ebs.csi.aws.com' });
    expect(created.headers.warning).toContain('only the provisioner tutti.dev/simulated makes volumes');
    const own = await client.create(path, { metadata: { name: 'b' }, provisioner: 'tutti.dev/simulated' });
    expect(own.headers).not.toHaveProperty('warning');
  });

  it('name a kind that the plane stores but does not act on', async () => {
    const budget = { metadata: { name: 'a' }, spec: { minAvailable: 1 } };
    const { headers } = await new ApiClient().create('/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget);
    expect(headers.warning).toContain('runs no disruption controller');
  });

  it('report that custom resources get no defaults', async () => {
    const definition = podGroupDefinition() as any;
    definition.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.minMember.default = 1;
    const { status, headers } = await new ApiClient().create(definitionsPath, definition);
    expect(status).toBe(201);
    expect(headers.warning).toContain('the embedded plane does not fill in the defaults of custom resources');
    const plain = await new ApiClient().create(definitionsPath, podGroupDefinition());
    expect(plain.headers).not.toHaveProperty('warning');
  });

  it('report that no operator runs for a custom resource, except for PodGroups', async () => {
    const client = new ApiClient();
    const definition = podGroupDefinition() as any;
    await client.mustCreate(definitionsPath, definition);
    const own = {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name: 'a' },
      spec: { minMember: 2 },
    };
    const created = await client.create('/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups', own);
    expect(created.headers).not.toHaveProperty('warning');
    const text = JSON.stringify(definition)
      .replaceAll('scheduling.x-k8s.io', 'kubeflow.org')
      .replaceAll('PodGroup', 'MPIJob')
      .replaceAll('podgroup', 'mpijob');
    await client.mustCreate(definitionsPath, JSON.parse(text));
    const job = { ...own, apiVersion: 'kubeflow.org/v1alpha1', kind: 'MPIJob' };
    const foreign = await client.create('/apis/kubeflow.org/v1alpha1/namespaces/default/mpijobs', job);
    expect(foreign.headers.warning).toContain(
      'the embedded plane stores MPIJob objects but runs no operator for kubeflow.org',
    );
  });
});
