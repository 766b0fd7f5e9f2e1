import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { PodSignatures, Profile } from '../../../framework/profile.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/**
 * The plugins' signatures of the members of one attempt, computed once per member. Valid while the cluster cache does not change.
 */
export class SignedMembers {
  readonly #members: readonly Pod[];
  #signatures: readonly PodSignatures[] | undefined;
  #profile: Profile | undefined;

  constructor(members: readonly Pod[]) {
    this.#members = members;
  }

  /** Returns the signatures in the order of the members. Throws PluginFailure. */
  *of(profile: Profile, budget: WorkBudget): Yielding<readonly PodSignatures[]> {
    if (this.#signatures !== undefined && this.#profile === profile) return this.#signatures;
    const signatures: PodSignatures[] = [];
    for (const pod of this.#members) {
      budget.spend(workPerMember);
      if (budget.isDue) yield;
      signatures.push(profile.signaturesOf(pod));
    }
    this.#profile = profile;
    return (this.#signatures = signatures);
  }
}
