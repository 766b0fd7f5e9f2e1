import type { KubeClient } from '../../client/kube-client.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';

const build = new Builders();

/** Creates a pod of the scheduler `tutti` through the API. */
export async function createPod(client: Pick<KubeClient, 'create'>, options: PodOptions): Promise<void> {
  const { metadata, spec } = build.pod({ schedulerName: 'tutti', ...options });
  const { name, namespace, labels } = metadata;
  await client.create(`/api/v1/namespaces/${namespace}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { ...spec, containers: spec.containers!.map((container) => ({ image: 'x', ...container })) },
  });
}
