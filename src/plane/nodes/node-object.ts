import { toKubernetesTime } from '../../api/kubernetes-time.ts';

/** One simulated node. */
export interface SimulatedNodeSpec {
  readonly name: string;
  /** Resource name -> quantity; also the capacity. Default: 110 for `pods`, 0 for any other resource. */
  readonly allocatable: Readonly<Record<string, string | number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly SimulatedTaint[];
  /** Whether the node is cordoned when it registers. */
  readonly unschedulable?: boolean;
}

export interface SimulatedTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** The kubelet version that simulated nodes report; no real kubelet has it. */
const simulatedKubeletVersion = 'v0.0.0-simulated';

/** Returns the allocatable resources in the spec, with 110 pods by default. */
export function allocatableOf(spec: SimulatedNodeSpec): Readonly<Record<string, string | number>> {
  return { pods: '110', ...spec.allocatable };
}

/** Returns the labels that every node has, and those in the spec. */
export function labelsOf(spec: SimulatedNodeSpec): Readonly<Record<string, string>> {
  return {
    'kubernetes.io/hostname': spec.name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    ...spec.labels,
  };
}

/** Returns the Node object that a simulated node registers, including its status. */
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
        containerRuntimeVersion: 'simulated://0',
        kernelVersion: 'simulated',
        kubeletVersion: simulatedKubeletVersion,
        operatingSystem: 'linux',
        osImage: 'simulated',
      },
    },
  };
}
