import { podGroupLabel, podGroupNameOf } from './pod-group-membership.ts';

/** The kinds of workloads with a pod template at `spec.template` that users write themselves, and their API paths. */
export const labeledKinds = [
  { kind: 'Job', apiPath: '/apis/batch/v1', plural: 'jobs' },
  { kind: 'Deployment', apiPath: '/apis/apps/v1', plural: 'deployments' },
  { kind: 'StatefulSet', apiPath: '/apis/apps/v1', plural: 'statefulsets' },
] as const;

export type LabeledKind = (typeof labeledKinds)[number]['kind'];

/** A workload with the label of a PodGroup, whose pod template names none: its pods are not members. */
export interface MislabeledWorkload {
  readonly kind: LabeledKind;
  readonly name: string;
  /** Name of the PodGroup, whether or not it exists. */
  readonly group: string;
}

type Keyed = Readonly<Record<string, string>>;

interface RawWorkload {
  readonly metadata?: { readonly name?: string; readonly labels?: Keyed };
  readonly spec?: {
    readonly template?: { readonly metadata?: { readonly labels?: Keyed; readonly annotations?: Keyed } };
  };
}

/** Reads a workload of this kind from JSON; undefined if its pods are members of a group or it has no label of one. Never throws. */
export function mislabeledWorkloadOf(kind: LabeledKind, object: unknown): MislabeledWorkload | undefined {
  const { metadata, spec } = object as RawWorkload;
  const own = podGroupNameOf(metadata?.labels, undefined);
  const template = spec?.template?.metadata;
  if (own === undefined || podGroupNameOf(template?.labels, template?.annotations) !== undefined) return undefined;
  return { kind, name: metadata?.name ?? '', group: own.name };
}

/** Says what is wrong, what follows and what to do: one sentence without a period. */
export function describeMislabeledWorkload({ kind, name, group }: MislabeledWorkload): string {
  const remedy = kind === 'Job' ? 'create the Job again with the label' : 'set the label';
  return (
    `${kind} ${name} has the label ${podGroupLabel}=${group}, but its pod template lacks it, ` +
    `so its pods start one by one; ${remedy} in spec.template.metadata.labels`
  );
}
