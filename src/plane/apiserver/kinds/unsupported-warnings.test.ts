import { describe, expect, it } from 'vitest';
import { ApiClient } from '../testing/api-client.ts';
import { definitionsPath, podGroupDefinition, podManifest, podsPath } from '../testing/manifests.ts';

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

  it('name a kind that the plane stores but does not act on', async () => {
    const budget = { metadata: { name: 'a' }, spec: { minAvailable: 1 } };
    const { headers } = await new ApiClient().create('/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget);
    expect(headers.warning).toContain('runs no disruption controller');
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
