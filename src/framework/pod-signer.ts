import type { Pod } from '../api/pod.ts';
import type { MadePlugins } from './make-plugins.ts';
import { readSignature } from './plugin-answers.ts';
import { failureOf, PluginFailure } from './plugin-failure.ts';
import type { Plugin } from './plugin.ts';
import { keepsUp } from './keeps-up.ts';

/** What makes pods alike to the plugins of a profile; undefined: nothing that could be reused. */
export interface PodSignatures {
  /** For those that read one node at a time: equal texts share their answers about nodes. */
  readonly local: string | undefined;
  /**
   * For those that read other nodes, together with `local`: equal texts share what PreFilter computed, along a plan. Undefined
   * also where such a plugin cannot keep that up to date.
   */
  readonly others: string | undefined;
  /** Both in one: pods with equal texts are alike to all of them. Undefined where one of the two is. */
  readonly whole: string | undefined;
  /**
   * What `local` is made of, in the order of `PodSigner.local`, each with what its plugin read of the picture meanwhile; undefined:
   * that plugin does not sign the pod. For answers that are kept.
   */
  readonly fragments: readonly (string | undefined)[];
}

/** A beginning that signatures have in common. */
interface Stem {
  /** What the next plugin signs -> the longer stem; absent while the last pod went the one way that there is. */
  longer: Map<string | undefined, Stem> | undefined;
  /** Where the last pod went on, because the next one is often like it. */
  last: { readonly fragment: string | undefined; readonly stem: Stem } | undefined;
  /** At the end. */
  signatures: PodSignatures | undefined;
}

/** Signatures that are kept, and their characters; beyond them all are forgotten, and made anew as they are met. */
const signatureLimit = 256;
const characterLimit = 1_000_000;

/**
 * Signs pods for all plugins of a profile that judge them. Pods that are alike get the very same signatures, so that a gang of
 * thousands keeps one.
 */
export class PodSigner {
  /** Those that read one node at a time, in the profile's order. */
  readonly local: readonly Plugin[];
  readonly #others: readonly Plugin[];
  /** What the others' PreFilters compute is brought up to date after a placement, not computed again. */
  readonly #othersKeepUp: boolean;
  /** Those whose texts count. */
  readonly #signers: readonly Plugin[];
  /** What they have signed for the pod at hand. */
  readonly #fragments: (string | undefined)[] = [];
  /** What those of `#picturing` read of the picture for it, in that order. */
  readonly #readings: string[] = [];
  /** Positions, among the signers, of the local ones that sign the picture. */
  readonly #picturing: readonly number[];
  #root = newStem();
  #count = 0;
  #characters = 0;

  constructor(plugins: readonly Plugin[], at: MadePlugins['at']) {
    const signs = (plugin: Plugin): boolean =>
      judgesNodes(plugin, at) || (at.preFilter.includes(plugin) && plugin.sign !== undefined);
    this.local = plugins.filter((plugin) => plugin.readsOtherNodes !== true && signs(plugin));
    this.#others = plugins.filter((plugin) => plugin.readsOtherNodes === true && signs(plugin));
    this.#othersKeepUp = this.#others.every((plugin) => !at.preFilter.includes(plugin) || keepsUp(plugin));
    this.#signers = this.#othersKeepUp ? [...this.local, ...this.#others] : this.local;
    this.#picturing = [...this.local.keys()].filter((i) => this.local[i]!.signCluster !== undefined);
  }

  /** Its PreFilter, run where something comes of it, reads other nodes. */
  isOther(plugin: Plugin): boolean {
    return this.#others.includes(plugin);
  }

  /** Throws PluginFailure. */
  sign(pod: Pod): PodSignatures {
    const fragments = this.#fragments;
    let stem = this.#root;
    for (let i = 0; i < this.#signers.length; i++)
      stem = longer(stem, (fragments[i] = fragmentOf(this.#signers[i]!, pod)));
    for (let i = 0; i < this.#picturing.length; i++)
      stem = longer(stem, (this.#readings[i] = readingOf(this.local[this.#picturing[i]!]!, pod)));
    return (stem.signatures ??= this.#made(fragments));
  }

  #made(fragments: readonly (string | undefined)[]): PodSignatures {
    // The stem that was just reached is still the caller's.
    const characters = fragments.reduce((sum, fragment) => sum + (fragment?.length ?? 0), 0);
    this.#characters += characters;
    if (++this.#count > signatureLimit || this.#characters > characterLimit) {
      this.#count = 1;
      this.#characters = characters;
      this.#root = newStem();
    }
    const own = fragments.slice(0, this.local.length);
    const local = joined(own);
    const others = this.#othersKeepUp ? joined(fragments.slice(own.length)) : undefined;
    const whole = local === undefined || others === undefined ? undefined : `${others}${local}`;
    for (const [i, position] of this.#picturing.entries()) {
      if (own[position] !== undefined) own[position] += `\u0001${this.#readings[i]}`;
    }
    return { local, others, whole, fragments: own };
  }
}

/** Filters or scores nodes. */
export function judgesNodes(plugin: Plugin, at: MadePlugins['at']): boolean {
  return at.filter.includes(plugin) || at.score.includes(plugin);
}

function newStem(): Stem {
  return { longer: undefined, last: undefined, signatures: undefined };
}

function longer(stem: Stem, fragment: string | undefined): Stem {
  if (stem.last?.fragment === fragment && stem.last !== undefined) return stem.last.stem;
  let found = stem.longer?.get(fragment);
  if (found === undefined) {
    found = newStem();
    if (stem.last !== undefined) {
      stem.longer ??= new Map([[stem.last.fragment, stem.last.stem]]);
      stem.longer.set(fragment, found);
    }
  }
  stem.last = { fragment, stem: found };
  return found;
}

function fragmentOf(plugin: Plugin, pod: Pod): string | undefined {
  try {
    return readSignature(plugin.sign?.(pod));
  } catch (error) {
    throw new PluginFailure(failureOf(plugin, 'Sign', error));
  }
}

function readingOf(plugin: Plugin, pod: Pod): string {
  try {
    return readSignature(plugin.signCluster!(pod)) ?? '';
  } catch (error) {
    throw new PluginFailure(failureOf(plugin, 'Sign', error));
  }
}

/** Undefined when one of them is. */
function joined(fragments: readonly (string | undefined)[]): string | undefined {
  let text = '';
  for (const fragment of fragments) {
    if (fragment === undefined) return undefined;
    text += `${fragment}\u0000`;
  }
  return text;
}
