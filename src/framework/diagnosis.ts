import type { Pod } from '../api/pod.ts';
import type { Status } from './status.ts';

/**
 * What turned a pod away:
 * - `pod`: it was rejected as a whole, by a PreFilter, or a plugin failed on it;
 * - `nodes`: every node rejected it. `reasons`: reason -> on how many nodes it was given; `resolvable`: some node rejected it in a
 *   way that taking other pods away may change.
 */
export type Rejection =
  | { readonly kind: 'pod'; readonly status: Status }
  | { readonly kind: 'nodes'; readonly reasons: ReadonlyMap<string, number>; readonly resolvable: boolean };

/** Why one pod found no node. */
export interface Diagnosis {
  readonly pod: Pod;
  /** How many nodes were looked at. */
  readonly nodeCount: number;
  readonly rejection: Rejection;
  /** Names of all plugins that rejected it: their events may help. */
  readonly plugins: ReadonlySet<string>;
  /** Of these, those that answered Pending. Absent: none. */
  readonly pending?: ReadonlySet<string>;
}

/** Who turned a pod away as a whole, as a Diagnosis says it. */
export function unschedulablePluginsOf({ plugin, code }: Status): Pick<Diagnosis, 'plugins' | 'pending'> {
  const plugins = new Set(plugin === '' ? [] : [plugin]);
  return code === 'Pending' ? { plugins, pending: plugins } : { plugins };
}

/** Whether taking other pods away may help. */
export function isResolvable({ rejection }: Diagnosis): boolean {
  return rejection.kind === 'nodes' ? rejection.resolvable : rejection.status.code === 'Unschedulable';
}

/** The plugin's failure that ended the attempt, if that is what the diagnosis is about. */
export function failureIn({ rejection }: Diagnosis): Status | undefined {
  return rejection.kind === 'pod' && rejection.status.code === 'Error' ? rejection.status : undefined;
}

/** What rejected it, whatever the counts: equal texts, equal blockers. */
export function describeCause({ rejection }: Diagnosis): string {
  return rejection.kind === 'pod'
    ? rejection.status.message.replaceAll(/\d+/g, '#')
    : [...rejection.reasons.keys()].sort().join(', ');
}

/** kube-scheduler's sentence: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.` */
export function describeDiagnosis({ nodeCount, rejection }: Diagnosis): string {
  const prefix = `0/${nodeCount} nodes are available`;
  if (rejection.kind === 'pod') return `${prefix}: ${rejection.status.message}.`;
  const reasons = [...rejection.reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return reasons.length === 0 ? `${prefix}: no nodes are known.` : `${prefix}: ${reasons.join(', ')}.`;
}
