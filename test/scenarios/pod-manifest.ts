import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import type { PodAffinityRules, Toleration, TopologySpreadConstraint } from '../../src/api/pod.ts';

/** Not the default name, so that other schedulers on the plane ignore these pods. */
export const schedulerName = 'tutti';

/** PriorityClass -> value. The names are those of upstream's cases, plus one below and one above all others, and `never`. */
export const priorities = { last: -100, low: 0, mid: 100, high: 1000, never: 1000, highest: 2000 } as const;

/** The PriorityClass with `preemptionPolicy: Never`. */
export const neverPreempts: keyof typeof priorities = 'never';

export interface PodOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface PodSpec {
  /** The PodGroup that it names by label. */
  readonly group?: string;
  /** The PodGroup that it names by annotation. */
  readonly groupAnnotation?: string;
  /** The PodGroup of `scheduling.k8s.io` that it names in its spec. */
  readonly schedulingGroup?: string;
  readonly cpu?: string | number;
  /** Bytes, when it is a number. */
  readonly memory?: string | number;
  /** More requests: resource name -> amount. */
  readonly requests?: Readonly<Record<string, string | number>>;
  /** Default: low. */
  readonly priority?: keyof typeof priorities;
  readonly schedulerName?: string;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
  readonly gates?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly affinity?: PodAffinityRules;
  readonly topologySpread?: readonly TopologySpreadConstraint[];
  /** Names of the PersistentVolumeClaims that are its volumes. */
  readonly claims?: readonly string[];
  /** The controller that would recreate it. */
  readonly owner?: PodOwner;
  /** Seconds that it may take to terminate. Default: 0, so that a deleted pod is gone at once unless a simulated node runs it. */
  readonly grace?: number;
  /** activeDeadlineSeconds */
  readonly deadline?: number;
  readonly finalizers?: readonly string[];
  /** For simulated nodes and other uses. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Returns a v1 Pod to create. */
export function podManifest(name: string, namespace: string, spec: PodSpec): object {
  const requests: Record<string, string> = {};
  const named = { ...spec.requests, cpu: spec.cpu, memory: spec.memory };
  for (const [resource, amount] of Object.entries(named)) if (amount !== undefined) requests[resource] = String(amount);
  // Extended resources cannot be over-committed: the API requires request and limit to be equal.
  const limits = Object.fromEntries(Object.entries(requests).filter(([resource]) => resource.includes('/')));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { ...spec.labels, ...(spec.group !== undefined && { [podGroupLabel]: spec.group }) },
      ...(spec.finalizers !== undefined && { finalizers: spec.finalizers }),
      ...(spec.owner !== undefined && { ownerReferences: [{ ...spec.owner, controller: true }] }),
      annotations: {
        ...spec.annotations,
        ...(spec.groupAnnotation !== undefined && { [podGroupLabel]: spec.groupAnnotation }),
      },
    },
    spec: {
      containers: [{ name: 'main', image: 'registry.example/main:1', resources: { requests, limits } }],
      priorityClassName: spec.priority ?? 'low',
      schedulerName: spec.schedulerName ?? schedulerName,
      restartPolicy: 'Never',
      ...(spec.schedulingGroup !== undefined && { schedulingGroup: { podGroupName: spec.schedulingGroup } }),
      terminationGracePeriodSeconds: spec.grace ?? 0,
      ...(spec.deadline !== undefined && { activeDeadlineSeconds: spec.deadline }),
      ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }),
      ...(spec.nodeSelector !== undefined && { nodeSelector: spec.nodeSelector }),
      ...(spec.tolerations !== undefined && { tolerations: spec.tolerations }),
      ...(spec.affinity !== undefined && { affinity: spec.affinity }),
      ...(spec.topologySpread !== undefined && { topologySpreadConstraints: spec.topologySpread }),
      ...(spec.claims !== undefined && {
        volumes: spec.claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      }),
      ...(spec.gates !== undefined && { schedulingGates: spec.gates.map((gate) => ({ name: gate })) }),
    },
  };
}
