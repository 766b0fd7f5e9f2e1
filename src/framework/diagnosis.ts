import type { Pod } from '../api/pod.ts';
import type { Status } from './status.ts';

/** Why one pod found no node. */
export interface Diagnosis {
  readonly pod: Pod;
  readonly nodeCount: number;
  /** Set when a PreFilter refused the pod as a whole; then there are no node reasons. */
  readonly preFilter: Status | undefined;
  /** reason -> number of nodes that gave it first */
  readonly nodeReasons: ReadonlyMap<string, number>;
  /** Names of all plugins that refused it: their events may help. */
  readonly plugins: ReadonlySet<string>;
  /** Some node refused it in a way that preemption may change. */
  readonly resolvable: boolean;
}

/** kube-scheduler's sentence: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.` */
export function describeDiagnosis(diagnosis: Diagnosis): string {
  const prefix = `0/${diagnosis.nodeCount} nodes are available`;
  if (diagnosis.preFilter !== undefined) return `${prefix}: ${diagnosis.preFilter.reason}.`;
  const reasons = [...diagnosis.nodeReasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return reasons.length === 0 ? `${prefix}: no nodes are known.` : `${prefix}: ${reasons.join(', ')}.`;
}
