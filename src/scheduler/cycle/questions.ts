import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import type { Pace } from '../../base/pace.ts';
import type { Steps } from '../../base/steps.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Candidate } from '../../framework/candidate.ts';
import type { PodSignatures, Profile } from '../../framework/profile.ts';
import type { Demand } from '../placement/planning/demand.ts';
import type { Planner } from '../placement/planning/planner.ts';
import { workPerMember } from '../placement/planning/work-per-member.ts';
import type { Profiles } from '../profiles.ts';

/**
 * What an attempt asks of the picture, as a text: two entities with equal texts are answered alike. There is none where somebody
 * may answer by something that is not known.
 */
export class Questions {
  readonly #cluster: Pick<Cluster, 'claimOf' | 'claims' | 'gang' | 'hasClaims'>;
  readonly #planner: Pick<Planner, 'signaturesOf'>;
  readonly #profiles: Pick<Profiles, 'hints' | 'isOurs' | 'of'>;
  /** Of the pod without volumes that was asked about last: the next one is often like it. */
  #last: { readonly signatures: PodSignatures; readonly priority: number; readonly kind: string } | undefined;

  constructor(options: {
    readonly cluster: Pick<Cluster, 'claimOf' | 'claims' | 'gang' | 'hasClaims'>;
    readonly planner: Pick<Planner, 'signaturesOf'>;
    readonly profiles: Pick<Profiles, 'hints' | 'isOurs' | 'of'>;
  }) {
    this.#cluster = options.cluster;
    this.#planner = options.planner;
    this.#profiles = options.profiles;
  }

  /** Throws PluginFailure. */
  *of(
    profile: Profile,
    candidate: Candidate,
    { members, needed, gang, signed }: Demand,
    pace: Pace,
  ): Steps<string | undefined> {
    // Who makes room, or looks at one gang in particular, is asked about each.
    if (profile.judgesUnsigned || profile.hasPostFilter || this.#profiles.hints(candidate).concernsGangs)
      return undefined;
    // Its own pods on nodes, and room that is kept for it, are nobody else's.
    if (gang !== undefined && (gang.started || gang.counted > 0 || gang.count('leaving') > 0)) return undefined;
    if (this.#hasKeptRoom(members)) return undefined;
    /** what makes members alike -> how many are */
    const counts = new Map<string, number>();
    const signatures = yield* signed.of(profile, pace);
    for (const [i, pod] of members.entries()) {
      if (!this.#isLikeLast(pod, signatures[i]!)) {
        pace.spend(workPerMember);
        if (pace.isDue) yield;
      }
      const kind = this.kindFrom(pod, signatures[i]!);
      if (kind === undefined) return undefined;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    const kinds = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    const group = profile.gangPolicy === undefined ? undefined : this.#groupOf(candidate);
    return JSON.stringify([profile.schedulerName, candidate.kind, group, needed, gang?.spec?.minResources, kinds]);
  }

  /** The gang policy judges a pod that is queued by itself by its group: what makes it the same for its siblings. */
  #groupOf(candidate: Candidate): unknown {
    if (candidate.kind === 'gang' || candidate.pod.podGroupKey === undefined) return undefined;
    const gang = this.#cluster.gang(candidate.pod.podGroupKey);
    return [gang?.key, gang?.spec?.uid, [...(gang?.pendingBySchedulerName.keys() ?? [])].sort()];
  }

  /** Room is kept for one of them or for a sibling, which bars none of them but others. */
  #hasKeptRoom(members: readonly Pod[]): boolean {
    if (!this.#cluster.hasClaims) return false;
    const group = members[0]?.podGroupKey;
    if (group === undefined) return members.some(({ uid }) => this.#cluster.claimOf(uid) !== undefined);
    for (const { claimant } of this.#cluster.claims()) if (claimant.podGroupKey === group) return true;
    return false;
  }

  /**
   * What makes pods alike to the plugins, and in what room is kept from them, and in what may come to help them. Throws
   * PluginFailure.
   */
  kindOf(profile: Profile, pod: Pod): string | undefined {
    return this.kindFrom(pod, this.#planner.signaturesOf(profile, pod));
  }

  /** As `kindOf`, by what the pod has been signed as. */
  kindFrom(pod: Pod, signatures: PodSignatures): string | undefined {
    const { whole } = signatures;
    if (whole === undefined) return undefined;
    const { priority, namespace, volumes } = pod;
    // What happens to a claim helps those that have it, however alike others are.
    if (volumes !== noVolumes) return `${priority}\u0003${JSON.stringify([namespace, volumes])}\u0003${whole}`;
    if (!this.#isLikeLast(pod, signatures))
      this.#last = { signatures, priority, kind: `${priority}\u0003\u0003${whole}` };
    return this.#last?.kind;
  }

  #isLikeLast({ priority, volumes }: Pod, signatures: PodSignatures): boolean {
    return volumes === noVolumes && this.#last?.signatures === signatures && this.#last.priority === priority;
  }

  /** Whether the two states of a pod are one to the plugins that place it; false where nobody knows. */
  looksAlike(before: Pod, now: Pod): boolean {
    if (now.nodeName !== '' || !this.#profiles.isOurs(now.schedulerName)) return true;
    const profile = this.#profiles.of({ kind: 'pod', pod: now });
    if (judgesBesides(profile)) return false;
    try {
      const kind = this.kindOf(profile, now);
      return kind !== undefined && kind === this.kindOf(profile, before);
    } catch {
      return false;
    }
  }
}

/** Some plugin may judge a pod by what is in no signature: what is signed says nothing of Permit, or of how room can be made. */
function judgesBesides(profile: Profile): boolean {
  if (profile.judgesUnsigned || profile.hasPostFilter) return true;
  return profile.plugins.some((plugin) => plugin.permit !== undefined && plugin.name !== profile.gangPolicy);
}
