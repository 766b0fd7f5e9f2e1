import type { Manifest } from '../../manifests/manifest.ts';

/** The kinds that can be planned. */
export const plannedKinds = ['Pod', 'PodGroup', 'Job', 'ReplicaSet', 'Deployment', 'StatefulSet'] as const;
export type PlannedKind = (typeof plannedKinds)[number];

/** An object of a manifest file whose kind can be planned. */
export interface PlannedObject {
  readonly kind: PlannedKind;
  /** The object has this namespace and a name. */
  readonly object: PlannedJson;
  readonly namespace: string;
  readonly name: string;
  /** For errors: `jobs.yaml, document 2: Job ml/red`. */
  readonly title: string;
  /** API path of the collection in the namespace. */
  readonly path: string;
  readonly lineOf: Manifest['lineOf'];
  readonly where: string;
}

/** Unchecked JSON of an object. */
export interface PlannedJson {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: PlannedMetadata;
  readonly spec?: PlannedSpec;
  readonly [field: string]: unknown;
}

export interface PlannedMetadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
  readonly [field: string]: unknown;
}

/** The fields of a workload, a pod or a PodGroup that planning reads before the core does. */
export interface PlannedSpec {
  readonly replicas?: number | null;
  readonly parallelism?: number | null;
  readonly completions?: number | null;
  readonly completionMode?: string | null;
  readonly suspend?: boolean | null;
  readonly ordinals?: { readonly start?: number } | null;
  readonly volumeClaimTemplates?: readonly unknown[] | null;
  readonly template?: { readonly metadata?: PlannedMetadata | null; readonly spec?: PlannedSpec } | null;
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly containers?: readonly PlannedContainer[];
  readonly initContainers?: readonly PlannedContainer[];
  readonly [field: string]: unknown;
}

export interface PlannedContainer {
  readonly resources?: {
    readonly requests?: Readonly<Record<string, unknown>> | null;
    readonly limits?: Readonly<Record<string, unknown>> | null;
  };
  readonly [field: string]: unknown;
}
