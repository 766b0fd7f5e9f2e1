import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';

/** Paths by which the programs of a node find each other. */
export interface NodeFiles {
  readonly containerdConfig: string;
  readonly containerdSocket: string;
  readonly kubeletConfig: string;
  readonly kubeletKubeconfig: string;
  readonly kubeletFolder: string;
  /** Layout of the kubelet: `<namespace>_<pod>_<uid>/<container>/<count>.log`. */
  readonly podLogs: string;
  /** The cgroup of all pods. */
  readonly cgroup: string;
}

export interface NodeSettings {
  /** Image of the sandbox container, whose namespaces all containers of a pod share. */
  readonly sandboxImage: string;
  /** URL of the API server as seen from the node. */
  readonly server: string;
  readonly address: string;
}

/** Debian's package containernetworking-plugins installs them here. */
export const networkPlugins = '/usr/lib/cni';
const podNetwork = '10.2.0.0/24';

/** Writes the configuration of containerd and the kubelet into the plane's folder. */
export async function writeNodeFiles(folder: string, settings: NodeSettings): Promise<NodeFiles> {
  const at = (...path: readonly string[]): string => join(folder, 'node', ...path);
  const files: NodeFiles = {
    containerdConfig: at('containerd.toml'),
    containerdSocket: at('containerd.sock'),
    kubeletConfig: at('kubelet.json'),
    kubeletKubeconfig: at('kubelet.kubeconfig'),
    kubeletFolder: at('kubelet'),
    podLogs: at('pod-logs'),
    cgroup: basename(folder),
  };
  await mkdir(at('networks'), { recursive: true });
  await writeFile(at('networks', 'pods.conflist'), JSON.stringify(network()));
  await writeFile(at('resolv.conf'), '');
  await writeFile(files.containerdConfig, containerd(at, files, settings));
  await writeFile(files.kubeletConfig, JSON.stringify(kubelet(at, files, settings)));
  await writeFile(files.kubeletKubeconfig, await kubeconfigFor(join(folder, 'kubeconfig'), settings.server));
  return files;
}

/** Pods reach each other and their node, and nothing else. */
function network(): object {
  const addresses = { type: 'host-local', ranges: [[{ subnet: podNetwork }]], routes: [{ dst: '0.0.0.0/0' }] };
  return {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [{ type: 'bridge', bridge: 'pods', isGateway: true, ipam: addresses }],
  };
}

type At = (...path: readonly string[]) => string;

function containerd(at: At, { containerdSocket }: NodeFiles, { sandboxImage }: NodeSettings): string {
  return `version = 3
root = '${at('containerd')}'
state = '${at('containerd-state')}'
disabled_plugins = ['io.containerd.nri.v1.nri', 'io.containerd.internal.v1.tracing', 'io.containerd.tracing.processor.v1.otlp']

[grpc]
address = '${containerdSocket}'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '${sandboxImage}'

[plugins.'io.containerd.cri.v1.runtime']
# Where the kernel does not let even root lower it.
restrict_oom_score_adj = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['${networkPlugins}']
conf_dir = '${at('networks')}'
`;
}

function kubelet(at: At, files: NodeFiles, { address }: NodeSettings): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${files.cgroup}`,
    containerRuntimeEndpoint: `unix://${files.containerdSocket}`,
    enforceNodeAllocatable: [],
    // The disk belongs to the host: its usage must not evict pods or delete images.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' },
    imageGCHighThresholdPercent: 100,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    podLogsDir: files.podLogs,
    resolvConf: at('resolv.conf'),
    volumePluginDir: at('volume-plugins'),
  };
}

async function kubeconfigFor(administrator: string, server: string): Promise<string> {
  const { clusters, ...rest } = parse(await readFile(administrator, 'utf8')) as {
    readonly clusters: readonly { readonly cluster: object }[];
  };
  const own = clusters.map((entry) => ({ ...entry, cluster: { ...entry.cluster, server } }));
  return JSON.stringify({ ...rest, clusters: own });
}
