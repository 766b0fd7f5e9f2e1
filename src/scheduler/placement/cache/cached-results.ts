import type { FilterPlugin, PodSignatures, Profile } from '../../../framework/profile.ts';
import { NodeTable } from './node-table.ts';
import { OwnerVerdicts } from './owner-verdicts.ts';
import { SignatureCache } from './signature-cache.ts';

/** Some of a profile's node-local plugins: those that read one node at a time. */
export interface PluginShare {
  readonly filters: readonly FilterPlugin[];
  /** Positions among the profile's scorers. */
  readonly scorers: readonly number[];
}

/**
 * A share with cached results. Call `table` again after another table may have been requested: the cache may reuse this one.
 */
export interface CachedShare extends PluginShare {
  readonly table: () => NodeTable;
}

/** How the node-local plugins are split for one pod class. */
export interface PluginSplit {
  /** Plugins with cached results; no plugin is in two shares. */
  readonly cached: readonly CachedShare[];
  /** Plugins that run every time: they sign nothing, or their results are not worth caching. */
  readonly uncached: PluginShare;
  /** Returns cached verdicts of all node-local filters on nodes with reservations. Call it again like `table`. Undefined: not cached. */
  readonly ownerVerdicts: (() => OwnerVerdicts) | undefined;
}

/** With more pod classes than this, tables of one class would evict those of other classes and other gangs. */
const ownTableLimit = 32;

/**
 * Caches what the plugins of one profile return for each node. When a plan has several pod classes, the plugins that give all
 * classes the same signature share one table. The other plugins use one table per class, unless there are too many classes.
 */
export class CachedResults {
  readonly #profile: Profile;
  readonly #tables: SignatureCache<NodeTable>;
  readonly #ownerVerdicts = new SignatureCache(() => new OwnerVerdicts());
  /** signers as a mask, one letter each -> their share */
  readonly #shares = new Map<string, PluginShare>();

  constructor(profile: Profile) {
    this.#profile = profile;
    this.#tables = new SignatureCache(() => new NodeTable(profile.scorers.length));
  }

  /** Returns one split per pod class of a plan, in order. */
  of(classes: readonly PodSignatures[]): readonly PluginSplit[] {
    const signers = this.#profile.signers.length;
    const [first] = classes;
    if (first === undefined) return [];
    const common = Array.from({ length: signers }, (_, i) => {
      const fragment = first.fragments[i];
      return fragment !== undefined && classes.every(({ fragments }) => fragments[i] === fragment);
    });
    const shared = this.#cached((i) => common[i]!, first);
    const cacheOwn = classes.length <= ownTableLimit;
    return classes.map((podClass) => {
      const mayCache = (i: number): boolean => cacheOwn && podClass.fragments[i] !== undefined;
      const own = this.#cached((i) => !common[i]! && mayCache(i), podClass);
      const cached = [shared, own].filter((share) => share !== undefined);
      const { share: uncached } = this.#share((i) => !common[i]! && !mayCache(i));
      const isCached = uncached.filters.length === 0;
      return { cached, uncached, ownerVerdicts: isCached ? this.#ownerVerdictsOf(podClass) : undefined };
    });
  }

  /** Returns undefined if none of these plugins filters or scores. */
  #cached(includes: (signer: number) => boolean, { fragments }: PodSignatures): CachedShare | undefined {
    const { share, mask } = this.#share(includes);
    if (share.filters.length === 0 && share.scorers.length === 0) return undefined;
    let signature = mask;
    for (let i = 0; i < fragments.length; i++) if (includes(i)) signature += `${fragments[i]}\u0000`;
    return { ...share, table: () => this.#tables.of(signature) };
  }

  #ownerVerdictsOf({ fragments }: PodSignatures): () => OwnerVerdicts {
    let signature: string | undefined;
    return () => this.#ownerVerdicts.of((signature ??= fragments.join('\u0000')));
  }

  #share(includes: (signer: number) => boolean): { readonly share: PluginShare; readonly mask: string } {
    const { signers, localFilters, scorers } = this.#profile;
    const mask = signers.map((_, i) => (includes(i) ? 'x' : '-')).join('');
    let share = this.#shares.get(mask);
    if (share === undefined) {
      const plugins = new Set(signers.filter((_, i) => includes(i)));
      share = {
        filters: localFilters.filter(({ plugin }) => plugins.has(plugin)),
        scorers: [...scorers.keys()].filter((i) => plugins.has(scorers[i]!.plugin)),
      };
      this.#shares.set(mask, share);
    }
    return { share, mask };
  }
}
