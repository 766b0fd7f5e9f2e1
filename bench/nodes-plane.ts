import { podGroupDefinition } from '../src/api/pod-group-schema.ts';
import { seededRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { KubeClient } from '../src/client/kube-client.ts';
import { EmbeddedApiServer } from '../src/plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../src/plane/apiserver/in-process-transport.ts';
import { listenHttp } from '../src/plane/apiserver/listen-http.ts';

export interface NodesPlane {
  readonly client: KubeClient;
  readonly url: string;
  close(): Promise<void>;
}

/** Opens the embedded plane over HTTP, in this process, with the PodGroup CRD and `nodeCount` ready nodes with 16 CPUs: `node-0` and so on. */
export async function openNodesPlane(nodeCount: number): Promise<NodesPlane> {
  const server = new EmbeddedApiServer({ clock: systemClock, random: seededRandom(1) });
  const listener = await listenHttp(server, 0);
  const client = new KubeClient({ transport: new InProcessTransport(server), clock: systemClock });
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
  const amounts = { cpu: '16', memory: '64Gi', pods: '110' };
  for (let i = 0; i < nodeCount; i++) {
    await client.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `node-${i}`, labels: { 'kubernetes.io/hostname': `node-${i}` } },
      status: { allocatable: amounts, capacity: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await client.patch(`/api/v1/nodes/node-${i}`, 'merge', { spec: { taints: null } });
  }
  return {
    client,
    url: listener.url,
    async close() {
      await listener.close();
      server.close();
    },
  };
}
