import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Paths by which the programs of one plane find each other. */
export interface PlaneFiles {
  readonly folder: string;
  readonly kubeconfig: string;
}

export interface EtcdAddresses {
  readonly clientUrl: string;
  readonly peerUrl: string;
}

export function etcdArguments(folder: string, { clientUrl, peerUrl }: EtcdAddresses): string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}

/** Path of the API server's certificate. It is self-signed, so it is also the CA certificate. */
export function apiServerCertificate(folder: string): string {
  return join(folder, 'api-server', 'apiserver.crt');
}

/** feature gate -> the API that it adds, which the API server serves only on request */
const apisOfGates: Readonly<Record<string, string>> = {
  GenericWorkload: 'scheduling.k8s.io/v1beta1',
  CompositePodGroup: 'scheduling.k8s.io/v1alpha3',
};

/** Options of an API server. */
export interface ApiServerFeatures {
  /** Feature gates to enable in all programs of Kubernetes, such as `GenericWorkload` for its PodGroups. Default: none. */
  readonly featureGates?: readonly string[];
  /** Disables priority and fairness and the limits of requests in flight, to measure the client. */
  readonly unlimited?: boolean;
  /** A kubelet runs pods: they get the tokens of their service accounts, and the API server reaches the kubelet. */
  readonly node?: boolean;
  /** Records the requests of ServiceAccounts and their results; `ApiAudit` reads them. */
  readonly audited?: boolean;
}

/** Returns the files of an audited API server. */
export function auditFiles(folder: string): { readonly policy: string; readonly log: string } {
  return { policy: join(folder, 'audit-policy.json'), log: join(folder, 'audit.log') };
}

export function apiServerArguments(
  folder: string,
  port: number,
  etcdUrl: string,
  { featureGates = [], unlimited = false, audited = false, node = false }: ApiServerFeatures,
): string[] {
  const audit = auditFiles(folder);
  const apis = featureGates.flatMap((gate) => apisOfGates[gate] ?? []).map((api) => `${api}=true`);
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, 'api-server')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${join(folder, 'service-accounts.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'service-accounts.key')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    ...(node
      ? [`--egress-selector-config-file=${egressSelectorPath(folder)}`, '--kubelet-preferred-address-types=InternalIP']
      : // Without controllers, namespaces have no service accounts for pods.
        ['--disable-admission-plugins=ServiceAccount']),
    '--allow-privileged=true',
    '--endpoint-reconciler-type=none',
    ...gateArguments(featureGates),
    ...(apis.length > 0 ? [`--runtime-config=${apis.join(',')}`] : []),
    ...(audited ? [`--audit-policy-file=${audit.policy}`, `--audit-log-path=${audit.log}`] : []),
    ...(unlimited
      ? ['--enable-priority-and-fairness=false', '--max-requests-inflight=0', '--max-mutating-requests-inflight=0']
      : []),
  ];
}

/** Path of the configuration by which the API server reaches kubelets. */
export function egressSelectorPath(folder: string): string {
  return join(folder, 'egress-selector.json');
}

/**
 * `nodesAreAlive`: a component renews the Leases of nodes. Otherwise the node life-cycle controller is off, because it would mark them as
 * dead.
 */
export function controllerManagerArguments(
  { folder, kubeconfig }: PlaneFiles,
  port: number,
  nodesAreAlive: boolean,
  { featureGates = [] }: ApiServerFeatures,
): string[] {
  return [
    ...gateArguments(featureGates),
    ...servingArguments(folder, 'kube-controller-manager', port),
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${join(folder, 'service-accounts.key')}`,
    // Pods need it to trust the API server.
    `--root-ca-file=${apiServerCertificate(folder)}`,
    `--controllers=*${nodesAreAlive ? '' : ',-node-lifecycle-controller'}`,
    // By default, a quota of a CRD that the quota controller found late has no usage for five minutes.
    '--resource-quota-sync-period=10s',
    '--leader-elect=false',
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
  ];
}

/** Makes kwok manage all nodes. */
export function kwokArguments({ kubeconfig }: PlaneFiles, port: number): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--config=${fileURLToPath(new URL('kwok-stages.yaml', import.meta.url))}`,
    '--manage-all-nodes=true',
    '--node-ip=10.0.0.1',
    '--node-lease-duration-seconds=40',
    `--server-address=127.0.0.1:${port}`,
  ];
}

/** Arguments of kube-scheduler, and of the scheduler of scheduler-plugins, which is based on it. */
export function schedulerArguments(
  name: string,
  { folder, kubeconfig }: PlaneFiles,
  port: number,
  { featureGates = [] }: ApiServerFeatures,
): string[] {
  return [
    ...(name === 'kube-scheduler' ? gateArguments(featureGates) : []),
    ...servingArguments(folder, name, port),
    `--config=${join(folder, `${name}.json`)}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
  ];
}

function gateArguments(gates: readonly string[]): string[] {
  return gates.length === 0 ? [] : [`--feature-gates=${gates.map((gate) => `${gate}=true`).join(',')}`];
}

function servingArguments(folder: string, name: string, port: number): string[] {
  return ['--bind-address=127.0.0.1', `--secure-port=${port}`, `--cert-dir=${join(folder, name)}`];
}
