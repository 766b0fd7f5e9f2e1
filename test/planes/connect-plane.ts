import { podGroupPath } from '../../src/api/pod-group.ts';
import { podGroupDefinition } from '../../src/api/pod-group-schema.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { AlreadyExistsError } from '../../src/client/api-errors.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import type { TestPlane } from './plane.ts';
import { hangsMs } from './patience.ts';
import { poll } from './poll.ts';

/**
 * Makes a plane of a running API server: connects with its kubeconfig and installs the PodGroup CRD. `stop` ends the server; a rejection
 * calls it, too.
 */
export async function connectPlane(server: {
  readonly name: string;
  readonly kubeconfigPath: string;
  readonly stop: () => Promise<void>;
}): Promise<TestPlane> {
  const { name, kubeconfigPath } = server;
  let transport: HttpTransport | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= (transport?.close() ?? Promise.resolve()).then(server.stop));
  try {
    const endpoint = await loadKubeconfig({ clock: systemClock, path: kubeconfigPath });
    transport = new HttpTransport({ endpoint });
    const client = new KubeClient({ transport, clock: systemClock, timeoutMs: hangsMs, userAgent: 'tutti-tests' });
    const { gitVersion } = await client.get<{ gitVersion: string }>('/version');
    await installPodGroups(client);
    return { name, version: gitVersion, url: endpoint.server, kubeconfigPath, transport, client, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function installPodGroups(client: KubeClient): Promise<void> {
  await client
    .create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition)
    .catch((error: unknown) => {
      if (!(error instanceof AlreadyExistsError)) throw error;
    });
  // A server may need a moment from the creation of the CRD until it serves the resource.
  await poll(
    () =>
      client.list(podGroupPath()).then(
        () => undefined,
        (error: unknown) => String(error),
      ),
    'PodGroups are served',
  );
}
