import { isTerminal } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { MemberPlan } from './gang.ts';
import type { NodeInfo } from './node-info.ts';

/** The node that an unbound pod is assumed on. */
export interface Assumption extends MemberPlan {
  readonly node: NodeInfo;
}

/** What became of an assumption when the API spoke about its pod. */
export type AssumptionOutcome = 'none' | 'kept' | 'confirmed' | 'contradicted';

export function assumptionOutcome(pod: Pod, assumedOn: NodeInfo | undefined): AssumptionOutcome {
  if (assumedOn === undefined) return 'none';
  if (isTerminal(pod)) return 'contradicted';
  if (pod.nodeName === '') return 'kept';
  return pod.nodeName === assumedOn.name ? 'confirmed' : 'contradicted';
}
