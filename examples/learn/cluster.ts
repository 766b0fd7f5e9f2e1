import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { V1NodeSystemInfo, V1PodCondition } from '@kubernetes/client-node';
import type { Logger, Playground, PlaygroundNode } from 'tutti-scheduler';

/** Prints a line of a scenario. */
export type Say = (line: string) => void;

const namespace = 'default';

/** Returns a standard Kubernetes client for the playground, configured by its kubeconfig. */
export function clientOf(playground: Playground): CoreV1Api {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(playground.kubeconfigPath);
  return kubeConfig.makeApiClient(CoreV1Api);
}

/** Returns `node0` to `node<count - 1>`. */
export function numberedNodes(count: number, more: Partial<PlaygroundNode> = {}): PlaygroundNode[] {
  return Array.from({ length: count }, (_, index) => ({ ...more, name: `node${index}` }));
}

export async function addPod(core: CoreV1Api, name: string): Promise<void> {
  const spec = { containers: [{ name: 'main', image: 'busybox' }] };
  await core.createNamespacedPod({ namespace, body: { metadata: { name }, spec } });
}

/** Adds a Node object without a simulated kubelet, as when a cluster grows. */
export async function addNode(core: CoreV1Api, name: string, options: { unschedulable?: boolean } = {}): Promise<void> {
  const amounts = { cpu: '4', memory: '16Gi', pods: '110' };
  // Without a kubelet version, the Node would become a simulated node, which registers itself and changes the Node again.
  const nodeInfo = { kubeletVersion: 'v1.37.1' } as V1NodeSystemInfo;
  await core.createNode({
    body: { metadata: { name }, spec: options, status: { allocatable: amounts, capacity: amounts, nodeInfo } },
  });
}

/** Waits until the pod is bound, and resolves to the name of its node. */
export function boundNode(playground: Playground, core: CoreV1Api, name: string): Promise<string> {
  const nodeName = async (): Promise<string | undefined> =>
    (await core.readNamespacedPod({ name, namespace })).spec?.nodeName;
  return playground.until(nodeName, { what: `${name} is bound` });
}

/** Waits for the verdict of a pending pod, and resolves to its message. */
export function whyPending(playground: Playground, core: CoreV1Api, name: string): Promise<string> {
  const isVerdict = ({ type, status }: V1PodCondition): boolean => type === 'PodScheduled' && status === 'False';
  const message = async (): Promise<string | undefined> =>
    (await core.readNamespacedPod({ name, namespace })).status?.conditions?.find(isVerdict)?.message;
  return playground.until(message, { what: `the scheduler reports why ${name} is not bound` });
}

/** A logger that prints the lines of plugins and drops those of the scheduler. */
export function pluginLogger(say: Say, plugin?: string): Logger {
  const line = (message: string): void => {
    if (plugin !== undefined) say(`${plugin}: ${message}`);
  };
  const child = (fields: Readonly<Record<string, unknown>>): Logger =>
    pluginLogger(say, typeof fields.plugin === 'string' ? fields.plugin : plugin);
  return { debug: () => undefined, info: line, warn: line, error: line, child };
}
