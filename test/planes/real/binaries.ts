/** One program of a real control plane, or a related tool, and what it is built from. */
export interface Binary {
  /** Folder under modules/ with its go.mod. */
  readonly module: string;
  /** The Go package of its main function. */
  readonly package: string;
  /** Go variable -> value that the linker sets. */
  readonly variables: Readonly<Record<string, string>>;
}

export const kubernetesVersion = 'v1.37.1';

/** program -> how it is built. The go.mod of each module has the versions. */
export const binaries = {
  etcd: { module: 'etcd', package: 'go.etcd.io/etcd/server/v3', variables: {} },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  kwok: { module: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok', variables: {} },
  kubelet: kubernetes('kubelet'),
  containerd: containerd('containerd'),
  'containerd-shim-runc-v2': containerd('containerd-shim-runc-v2'),
  ctr: containerd('ctr'),
  pause: { module: 'pause', package: 'tutti.test/planes/pause', variables: {} },
  fidelity: {
    module: 'fidelity',
    package: 'tutti.test/planes/fidelity',
    variables: kubernetesVariables(kubernetesVersion),
  },
  'e2e-scheduling': {
    module: 'e2e-scheduling',
    package: 'tutti.test/planes/e2e-scheduling',
    variables: kubernetesVariables(kubernetesVersion),
  },
  promtool: { module: 'prometheus', package: 'github.com/prometheus/prometheus/cmd/promtool', variables: {} },
  'scheduler-plugins-scheduler': schedulerPlugins('scheduler'),
  'scheduler-plugins-controller': schedulerPlugins('controller'),
} as const satisfies Readonly<Record<string, Binary>>;

export type BinaryName = keyof typeof binaries;

export function isBinaryName(name: string): name is BinaryName {
  return Object.hasOwn(binaries, name);
}

function kubernetes(name: string): Binary {
  return {
    module: 'kubernetes',
    package: `k8s.io/kubernetes/cmd/${name}`,
    variables: kubernetesVariables(kubernetesVersion),
  };
}

function containerd(name: string): Binary {
  return { module: 'containerd', package: `github.com/containerd/containerd/v2/cmd/${name}`, variables: {} };
}

/** Its feature gates follow the version of the Kubernetes inside, not its own version. */
function schedulerPlugins(name: string): Binary {
  return {
    module: 'scheduler-plugins',
    package: `sigs.k8s.io/scheduler-plugins/cmd/${name}`,
    variables: kubernetesVariables('v1.34.4'),
  };
}

/** Without these, a Kubernetes program reports version v0.0.0-master, and clients that require a minimum version reject it. */
function kubernetesVariables(version: string): Record<string, string> {
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major!, gitMinor: minor!, gitTreeState: 'clean', gitCommit: '' };
  return Object.fromEntries(
    ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((holder) =>
      Object.entries(values).map(([name, value]) => [`${holder}.${name}`, value]),
    ),
  );
}
