import type { FilterPlugin, PodSignatures, Profile } from '../../../framework/profile.ts';
import type { NodeTable } from './node-table.ts';
import { SignatureCache } from './signature-cache.ts';

/** Some of a profile's plugins that read one node at a time. */
export interface Share {
  readonly filters: readonly FilterPlugin[];
  /** Positions among the profile's scorers. */
  readonly scorers: readonly number[];
}

/** A share whose answers are kept; `table` is to be asked for again whenever other tables may have been. */
export interface CachedShare extends Share {
  readonly table: () => NodeTable;
}

/** How the plugins that read one node at a time are asked about pods that are alike. */
export interface Answering {
  /** Whose answers are kept; no plugin is in two. */
  readonly kept: readonly CachedShare[];
  /** Who is asked anew each time: nothing is signed, or it is not worth keeping. */
  readonly anew: Share;
}

/** More kinds than this would only take each other's tables, and those of other gangs. */
const ownTableLimit = 32;

/**
 * What the plugins of one profile have answered about the nodes. Where pods of several kinds are to be placed together, the plugins
 * that sign all of them alike keep their answers once for all; those that tell them apart, a table for each kind unless there are
 * too many.
 */
export class CachedResults {
  readonly #profile: Profile;
  readonly #cache: SignatureCache;
  /** which of the signers, a letter each -> their share */
  readonly #shares = new Map<string, Share>();

  constructor(profile: Profile) {
    this.#profile = profile;
    this.#cache = new SignatureCache(profile.scorers.length);
  }

  /** For each of the kinds that a plan is about, in order. */
  of(kinds: readonly PodSignatures[]): readonly Answering[] {
    const signers = this.#profile.signers.length;
    const [first] = kinds;
    if (first === undefined) return [];
    const common = Array.from({ length: signers }, (_, i) => {
      const fragment = first.fragments[i];
      return fragment !== undefined && kinds.every(({ fragments }) => fragments[i] === fragment);
    });
    const shared = this.#kept((i) => common[i]!, first);
    const isKept = kinds.length <= ownTableLimit;
    return kinds.map((kind) => {
      const mayBeKept = (i: number): boolean => isKept && kind.fragments[i] !== undefined;
      const own = this.#kept((i) => !common[i]! && mayBeKept(i), kind);
      const kept = [shared, own].filter((share) => share !== undefined);
      return { kept, anew: this.#share((i) => !common[i]! && !mayBeKept(i)).share };
    });
  }

  /** Undefined when none of them judges nodes. */
  #kept(isOne: (signer: number) => boolean, { fragments }: PodSignatures): CachedShare | undefined {
    const { share, who } = this.#share(isOne);
    if (share.filters.length === 0 && share.scorers.length === 0) return undefined;
    let signature = who;
    for (let i = 0; i < fragments.length; i++) if (isOne(i)) signature += `${fragments[i]}\u0000`;
    return { ...share, table: () => this.#cache.table(signature) };
  }

  #share(isOne: (signer: number) => boolean): { readonly share: Share; readonly who: string } {
    const { signers, localFilters, scorers } = this.#profile;
    const who = signers.map((_, i) => (isOne(i) ? 'x' : '-')).join('');
    let share = this.#shares.get(who);
    if (share === undefined) {
      const plugins = new Set(signers.filter((_, i) => isOne(i)));
      share = {
        filters: localFilters.filter(({ plugin }) => plugins.has(plugin)),
        scorers: [...scorers.keys()].filter((i) => plugins.has(scorers[i]!.plugin)),
      };
      this.#shares.set(who, share);
    }
    return { share, who };
  }
}
