import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { PodSignatures } from '../../../framework/profile.ts';
import type { NodeSubset } from '../cache/node-subset.ts';
import type { PlanRequest } from './plan.ts';
import { SignedMembers } from './signed-members.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/** Members that are alike to every plugin that looks at one node at a time, and to extenders and claims. */
export interface PodClass {
  readonly pods: Pod[];
  readonly signatures: PodSignatures;
  /** They are alike to all plugins that sign. */
  readonly isUniform: boolean;
  /** What the plugins sign of them; of members that are like nobody, what is known. Equal gangs have equal texts. */
  readonly text: string;
}

/** In the order in which members of each come. Throws PluginFailure. */
export function* podClassesOf(cluster: Cluster, request: PlanRequest, budget: WorkBudget): Yielding<PodClass[]> {
  const { profile, members, signed = new SignedMembers(members), nodeSubsetOf } = request;
  const signaturesOf = yield* signed.of(profile, budget);
  const podClasses: PodClass[] = [];
  /** all that makes them alike -> kind */
  const known = new Map<string, PodClass>();
  /** what extenders said -> its number */
  const nodeSubsets = new Map<NodeSubset | undefined, number>();
  const isTellingMore = nodeSubsetOf !== undefined || hasReservations(cluster);
  let last: PodClass | undefined;
  for (const [i, pod] of members.entries()) {
    const signatures = signaturesOf[i]!;
    if (last?.signatures === signatures && signatures.local !== undefined && !isTellingMore) {
      last.pods.push(pod);
      continue;
    }
    budget.spend(workPerMember);
    if (budget.isDue) yield;
    const text = textOf(signatures);
    let key = text;
    if (isTellingMore) key += ownerKeyOf(cluster, pod);
    if (nodeSubsetOf !== undefined) key += numberOf(nodeSubsetOf(pod), nodeSubsets);
    const alike = signatures.local === undefined ? undefined : known.get(key);
    if (alike !== undefined) {
      alike.pods.push(pod);
      last = alike;
      continue;
    }
    last = { pods: [pod], signatures, isUniform: signatures.whole !== undefined, text };
    podClasses.push(last);
    if (signatures.local !== undefined) known.set(key, last);
  }
  return podClasses;
}

function textOf({ whole, local, fragments }: PodSignatures): string {
  return whole ?? `\u0001${local ?? fragments.map((fragment) => fragment ?? '\u0002').join('\u0000')}`;
}

function hasReservations(cluster: Cluster): boolean {
  for (const _ of cluster.reservations()) return true;
  return false;
}

/** All that `mustRespect` reads of a pod. */
function ownerKeyOf(cluster: Cluster, { uid, priority, podGroupKey = '' }: Pod): string {
  return `\u0003${priority} ${podGroupKey} ${cluster.reservationOf(uid) === undefined ? '' : uid}`;
}

function numberOf(nodeSubset: NodeSubset | undefined, numbers: Map<NodeSubset | undefined, number>): string {
  if (!numbers.has(nodeSubset)) numbers.set(nodeSubset, numbers.size);
  return `\u0004${numbers.get(nodeSubset)}`;
}
