import { toKubernetesTime } from '../../api/kubernetes-time.ts';

/** One simulated node. */
export interface SimulatedNodeSpec {
  readonly name: string;
  /** Resource name -> quantity; what is not named there is none of. `pods` is 110 by default. Also the capacity. */
  readonly allocatable: Readonly<Record<string, string | number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly SimulatedTaint[];
  /** Cordoned from the beginning. */
  readonly unschedulable?: boolean;
}

export interface SimulatedTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** The version that simulated nodes say they are; not that of any kubelet. */
const simulatedKubeletVersion = 'v0.0.0-simulated';

/** What a node has for pods: the spec's amounts, and room for 110 pods when it does not say. */
export function allocatableOf(spec: SimulatedNodeSpec): Readonly<Record<string, string | number>> {
  return { pods: '110', ...spec.allocatable };
}

/** The labels that every node has, and the spec's. */
export function labelsOf(spec: SimulatedNodeSpec): Readonly<Record<string, string>> {
  return {
    'kubernetes.io/hostname': spec.name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    ...spec.labels,
  };
}

/** The Node object that a simulated node registers, its status included. */
export function nodeObject(spec: SimulatedNodeSpec, internalIP: string, now: number): Record<string, unknown> {
  const time = toKubernetesTime(now);
  const condition = (type: string, status: string, reason: string, message: string): Record<string, string> => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  const quantities = Object.fromEntries(
    Object.entries(allocatableOf(spec)).map(([resource, amount]) => [resource, String(amount)]),
  );
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: spec.name, labels: labelsOf(spec) },
    spec: {
      ...(spec.taints !== undefined && { taints: spec.taints }),
      ...(spec.unschedulable === true && { unschedulable: true }),
    },
    status: {
      capacity: quantities,
      allocatable: quantities,
      conditions: [
        condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        condition('Ready', 'True', 'KubeletReady', 'simulated node is ready'),
      ],
      addresses: [
        { type: 'InternalIP', address: internalIP },
        { type: 'Hostname', address: spec.name },
      ],
      nodeInfo: {
        architecture: 'amd64',
        bootID: '',
        containerRuntimeVersion: 'simulated://0',
        kernelVersion: 'simulated',
        kubeProxyVersion: '',
        kubeletVersion: simulatedKubeletVersion,
        machineID: '',
        operatingSystem: 'linux',
        osImage: 'simulated',
        systemUUID: '',
      },
    },
  };
}
