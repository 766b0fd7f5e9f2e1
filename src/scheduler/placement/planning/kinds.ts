import type { Pod } from '../../../api/pod.ts';
import type { Pace } from '../../../base/pace.ts';
import type { Steps } from '../../../base/steps.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { PodSignatures } from '../../../framework/profile.ts';
import type { Narrowing } from '../cache/narrowing.ts';
import type { PlanRequest } from './plan.ts';
import { SignedMembers } from './signed-members.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/** Members that are alike to every plugin that looks at one node at a time, and to extenders and claims. */
export interface Kind {
  readonly pods: Pod[];
  readonly signatures: PodSignatures;
  /** They are alike to all plugins that sign. */
  readonly isUniform: boolean;
  /** What the plugins sign of them; of members that are like nobody, what is known. Equal gangs have equal texts. */
  readonly text: string;
}

/** In the order in which members of each come. Throws PluginFailure. */
export function* kindsOf(cluster: Cluster, request: PlanRequest, pace: Pace): Steps<Kind[]> {
  const { profile, members, signed = new SignedMembers(members), narrowingOf } = request;
  const signaturesOf = yield* signed.of(profile, pace);
  const kinds: Kind[] = [];
  /** all that makes them alike -> kind */
  const known = new Map<string, Kind>();
  /** what extenders said -> its number */
  const narrowings = new Map<Narrowing | undefined, number>();
  const isTellingMore = narrowingOf !== undefined || hasClaims(cluster);
  let last: Kind | undefined;
  for (const [i, pod] of members.entries()) {
    const signatures = signaturesOf[i]!;
    if (last?.signatures === signatures && signatures.local !== undefined && !isTellingMore) {
      last.pods.push(pod);
      continue;
    }
    pace.spend(workPerMember);
    if (pace.isDue) yield;
    const text = textOf(signatures);
    let key = text;
    if (isTellingMore) key += claimantOf(cluster, pod);
    if (narrowingOf !== undefined) key += numberOf(narrowingOf(pod), narrowings);
    const alike = signatures.local === undefined ? undefined : known.get(key);
    if (alike !== undefined) {
      alike.pods.push(pod);
      last = alike;
      continue;
    }
    last = { pods: [pod], signatures, isUniform: signatures.whole !== undefined, text };
    kinds.push(last);
    if (signatures.local !== undefined) known.set(key, last);
  }
  return kinds;
}

function textOf({ whole, local, fragments }: PodSignatures): string {
  return whole ?? `\u0001${local ?? fragments.map((fragment) => fragment ?? '\u0002').join('\u0000')}`;
}

function hasClaims(cluster: Cluster): boolean {
  for (const _ of cluster.claims()) return true;
  return false;
}

/** All that `mustRespect` reads of a pod. */
function claimantOf(cluster: Cluster, { uid, priority, podGroupKey = '' }: Pod): string {
  return `\u0003${priority} ${podGroupKey} ${cluster.claimOf(uid) === undefined ? '' : uid}`;
}

function numberOf(narrowing: Narrowing | undefined, numbers: Map<Narrowing | undefined, number>): string {
  if (!numbers.has(narrowing)) numbers.set(narrowing, numbers.size);
  return `\u0004${numbers.get(narrowing)}`;
}
