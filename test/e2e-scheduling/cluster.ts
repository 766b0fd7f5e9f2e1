import { poll } from '../planes/poll.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import type { RealPlane, RealPlaneOptions } from '../planes/real/real-plane.ts';

/** Pods per node that the specs wait for a minute before they start without them: one pod has all three names. */
const systemPod = 'kube-proxy-fluentd-elasticsearch-node-problem-detector';
const ownNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
/** The longest grace period of a pod of the specs, and some time. */
const goneWithinMs = 300_000;
const allocatable = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi' };

/** Opens a plane with simulated nodes that the specs accept as a cluster. It has no scheduler yet. */
export async function openCluster(
  { paths, featureGates }: Required<Pick<RealPlaneOptions, 'paths' | 'featureGates'>>,
  nodeCount: number,
): Promise<RealPlane> {
  const plane = await openRealPlane({ paths, featureGates, controllerManager: true, kwok: true });
  try {
    const nodes = Array.from({ length: nodeCount }, (_, index) => `node-${index}`);
    await plane.addNodes(nodes.map((name) => ({ name, allocatable })));
    for (const node of nodes) await runSystemPod(plane, node);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

/**
 * Resolves when nothing of previous specs is left. The specs do not wait for that: the pods of one still take resources for five seconds
 * when the next begins.
 */
export async function untilEmpty({ client }: RealPlane): Promise<void> {
  await poll(
    async () => {
      const { items } = await client.list('/api/v1/namespaces');
      const names = (items as { readonly metadata: { readonly name: string } }[]).map(({ metadata }) => metadata.name);
      const left = names.filter((name) => !ownNamespaces.includes(name));
      return left.length === 0 ? undefined : `${left.join(', ')} are left`;
    },
    'the namespaces of previous specs are gone',
    goneWithinMs,
  );
}

/** A Binding, unlike a pod with a node name, sets the condition PodScheduled, which the specs require of every pod. */
async function runSystemPod({ client }: RealPlane, node: string): Promise<void> {
  const pods = '/api/v1/namespaces/kube-system/pods';
  const name = `${systemPod}-${node}`;
  await client.create(pods, {
    metadata: { name },
    spec: {
      schedulerName: 'none',
      priorityClassName: 'system-node-critical',
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'main', image: 'main' }],
    },
  });
  await client.create(`${pods}/${name}/binding`, {
    metadata: { name },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  });
}
