import type { Pod } from '../api/pod.ts';
import type { CapacityShortage } from './capacity-shortage.ts';
import type { Status } from './status.ts';

/**
 * What rejected a pod:
 * - `pod`: PreFilter rejected the pod as a whole, or a plugin failed;
 * - `nodes`: every node was rejected. `resolvable`: preemption may help on at least one node.
 */
export type Rejection =
  | { readonly kind: 'pod'; readonly status: Status }
  | { readonly kind: 'nodes'; readonly rejections: readonly NodesRejection[]; readonly resolvable: boolean };

/** Nodes that were rejected with one status, each by the first plugin of the profile that rejects it. */
export interface NodesRejection {
  readonly status: Status;
  readonly nodes: number;
}

/** Why one pod fits no node. */
export interface Diagnosis {
  readonly pod: Pod;
  /** Number of nodes evaluated. */
  readonly nodeCount: number;
  readonly rejection: Rejection;
  /** Names of all plugins that rejected the pod; events that they registered may help. */
  readonly plugins: ReadonlySet<string>;
  /** How many members of its group had been placed when it was rejected. Absent: none. */
  readonly placedBefore?: number;
  /** Subset of `plugins` that returned Pending. Absent: none. */
  readonly pending?: ReadonlySet<string>;
  /** What is missing, if nodes rejected the pod because too little is free. The verdict says the first. Only in a plan that is asked for it. */
  readonly shortages?: readonly CapacityShortage[];
}

/**
 * Returns reason -> number of nodes. A node that is rejected for several reasons counts for each. Two plugins may give the same reason.
 */
export function reasonsIn(rejections: readonly NodesRejection[]): ReadonlyMap<string, number> {
  const reasons = new Map<string, number>();
  for (const { status, nodes } of rejections)
    for (const reason of status.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + nodes);
  return reasons;
}

/** Returns the plugin fields of a Diagnosis for a status that rejected the pod as a whole. */
export function unschedulablePluginsOf({ plugin, code }: Status): Pick<Diagnosis, 'plugins' | 'pending'> {
  const plugins = new Set(plugin === '' ? [] : [plugin]);
  return code === 'Pending' ? { plugins, pending: plugins } : { plugins };
}

/** Returns whether preemption may help. */
export function isResolvable({ rejection }: Diagnosis): boolean {
  return rejection.kind === 'nodes' ? rejection.resolvable : rejection.status.code === 'Unschedulable';
}

/** Returns the plugin failure that ended the attempt, if there is one. */
export function failureIn({ rejection }: Diagnosis): Status | undefined {
  return rejection.kind === 'pod' && rejection.status.code === 'Error' ? rejection.status : undefined;
}

/** Returns the cause without counts, so that equal texts mean equal causes. */
export function describeCause({ rejection }: Diagnosis): string {
  return rejection.kind === 'pod'
    ? withoutNumbers(rejection.status.message)
    : [...reasonsIn(rejection.rejections).keys()].sort().join(', ');
}

/** Replaces the numbers, which may change while the cause stays the same. */
export function withoutNumbers(text: string): string {
  return text.replaceAll(/\d+/g, '#');
}

/** Returns kube-scheduler's message: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.` */
export function describeDiagnosis({ nodeCount, rejection }: Diagnosis): string {
  const prefix = `0/${nodeCount} nodes are available`;
  if (rejection.kind === 'pod') return `${prefix}: ${rejection.status.message}.`;
  const reasons = [...reasonsIn(rejection.rejections)].map(([reason, count]) => `${count} ${reason}`).sort();
  return reasons.length === 0 ? `${prefix}: no nodes are known.` : `${prefix}: ${reasons.join(', ')}.`;
}
