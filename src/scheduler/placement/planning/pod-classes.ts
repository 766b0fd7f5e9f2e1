import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { PodSignatures } from '../../../framework/profile.ts';
import type { NodeSubset } from '../cache/node-subset.ts';
import type { PlanRequest } from './plan.ts';
import { SignedMembers } from './signed-members.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/** Members that the node-local plugins, the extenders and the reservations treat alike. */
export interface PodClass {
  readonly pods: Pod[];
  readonly signatures: PodSignatures;
  /** All signing plugins treat them alike, not only the node-local ones. */
  readonly isUniform: boolean;
  /**
   * The plugins' signatures as text. If a plugin signs nothing, the text holds the signatures that exist. Equal gangs have equal
   * texts.
   */
  readonly text: string;
  /** Orders classes before their texts; see TieBreaks. */
  readonly rank?: number | undefined;
}

/** Returns the pod classes in the order of their first members. Throws PluginFailure. */
export function* podClassesOf(cluster: Cluster, request: PlanRequest, budget: WorkBudget): Yielding<PodClass[]> {
  const { profile, members, signed = new SignedMembers(members), nodeSubsetOf } = request;
  const signaturesOf = yield* signed.of(profile, budget);
  const podClasses: PodClass[] = [];
  /** signatures, respected reservations and extenders' result as text -> pod class */
  const known = new Map<string, PodClass>();
  /** extenders' result -> its number */
  const nodeSubsets = new Map<NodeSubset | undefined, number>();
  const { hasReservations, ties } = cluster;
  let last: PodClass | undefined;
  let lastRespectKey = '';
  for (const [i, pod] of members.entries()) {
    const signatures = signaturesOf[i]!;
    const respectKey = hasReservations ? cluster.respectKeyOf(pod) : '';
    if (
      last?.signatures === signatures &&
      lastRespectKey === respectKey &&
      signatures.local !== undefined &&
      nodeSubsetOf === undefined
    ) {
      last.pods.push(pod);
      continue;
    }
    lastRespectKey = respectKey;
    budget.spend(workPerMember);
    if (budget.isDue) yield;
    const text = textOf(signatures);
    let key = text;
    if (hasReservations) key += `\u0003${respectKey}`;
    if (nodeSubsetOf !== undefined) key += numberOf(nodeSubsetOf(pod), nodeSubsets);
    const existing = signatures.local === undefined ? undefined : known.get(key);
    if (existing !== undefined) {
      existing.pods.push(pod);
      last = existing;
      continue;
    }
    last = {
      pods: [pod],
      signatures,
      isUniform: signatures.whole !== undefined,
      text,
      rank: ties?.pods[pod.uid]?.rank,
    };
    podClasses.push(last);
    if (signatures.local !== undefined) known.set(key, last);
  }
  return podClasses;
}

function textOf({ whole, local, fragments }: PodSignatures): string {
  return whole ?? `\u0001${local ?? fragments.map((fragment) => fragment ?? '\u0002').join('\u0000')}`;
}

function numberOf(nodeSubset: NodeSubset | undefined, numbers: Map<NodeSubset | undefined, number>): string {
  if (!numbers.has(nodeSubset)) numbers.set(nodeSubset, numbers.size);
  return `\u0004${numbers.get(nodeSubset)}`;
}
