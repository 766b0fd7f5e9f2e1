import type { Taint } from '../../api/node.ts';
import type { Identity } from './identity.ts';

export interface NodeOptions {
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Allocatable and capacity. Defaults: 4 cores, 16Gi, 110 pods. */
  readonly cpu?: string | number;
  readonly memory?: string | number;
  readonly pods?: string | number;
  /** Additional allocatable resources: resource name -> quantity */
  readonly allocatable?: Readonly<Record<string, string | number>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Taints as objects, or as `key=value:effect` or `key:effect`. */
  readonly taints?: readonly (string | Taint)[];
  readonly unschedulable?: boolean;
  /** status.declaredFeatures. */
  readonly declaredFeatures?: readonly string[];
  /** name -> bytes */
  readonly images?: Readonly<Record<string, number>>;
}

/** A v1 Node as the API server returns it. */
export interface NodeObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status: {
    readonly capacity: Readonly<Record<string, string>>;
    readonly allocatable: Readonly<Record<string, string>>;
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly declaredFeatures?: readonly string[];
    readonly images?: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
  };
}

export function buildNode(options: NodeOptions, identity: Identity): NodeObject {
  const name = options.name ?? `node-${identity.resourceVersion}`;
  const amounts: Record<string, string> = {
    cpu: String(options.cpu ?? '4'),
    memory: String(options.memory ?? '16Gi'),
    pods: String(options.pods ?? '110'),
  };
  for (const [resource, amount] of Object.entries(options.allocatable ?? {})) amounts[resource] = String(amount);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: options.uid ?? identity.uid,
      resourceVersion: options.resourceVersion ?? identity.resourceVersion,
      creationTimestamp: identity.creationTimestamp,
      labels: { 'kubernetes.io/hostname': name, ...options.labels },
    },
    spec: {
      ...(options.unschedulable === true && { unschedulable: true }),
      ...(options.taints !== undefined && {
        taints: options.taints.map((taint) => (typeof taint === 'string' ? parseTaint(taint) : taint)),
      }),
    },
    status: {
      capacity: { ...amounts },
      allocatable: amounts,
      conditions: [{ type: 'Ready', status: 'True' }],
      ...(options.declaredFeatures !== undefined && { declaredFeatures: options.declaredFeatures }),
      ...(options.images !== undefined && {
        images: Object.entries(options.images).map(([image, sizeBytes]) => ({ names: [image], sizeBytes })),
      }),
    },
  };
}

/** Parses `key=value:effect` or `key:effect`, the syntax of kubectl taint. */
function parseTaint(text: string): Taint {
  const parts = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text);
  if (parts === null) throw new Error(`${JSON.stringify(text)} is not a taint; use key=value:effect or key:effect`);
  return { key: parts[1]!, value: parts[2] ?? '', effect: parts[3]! };
}
