import { isTerminal } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { MemberPlan } from './gang.ts';
import type { NodeInfo } from './node-info.ts';

/** The node on which an unbound pod is assumed. */
export interface Assumption extends MemberPlan {
  readonly node: NodeInfo;
}

/** What an update of the pod from the API server means for its assumption. */
export type AssumptionOutcome = 'none' | 'kept' | 'confirmed' | 'contradicted';

export function assumptionOutcome(pod: Pod, assumedOn: NodeInfo | undefined): AssumptionOutcome {
  if (assumedOn === undefined) return 'none';
  if (isTerminal(pod)) return 'contradicted';
  if (pod.nodeName === '') return 'kept';
  return pod.nodeName === assumedOn.name ? 'confirmed' : 'contradicted';
}
