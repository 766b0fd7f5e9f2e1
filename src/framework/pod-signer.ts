import type { Pod } from '../api/pod.ts';
import type { MadePlugins } from './make-plugins.ts';
import type { PluginCalls } from './plugin-calls.ts';
import { readSignature } from './plugin-answers.ts';
import { PluginFailure } from './plugin-failure.ts';
import type { Plugin } from './plugin.ts';
import { hasPreFilterExtensions } from './pre-filter-extensions.ts';

/** The signatures of a pod for the plugins of a profile; undefined: results cannot be reused. */
export interface PodSignatures {
  /** For plugins that read one node at a time: pods with equal texts share their results per node. */
  readonly local: string | undefined;
  /**
   * For plugins that read other nodes, together with `local`: along a plan, pods with equal texts share what PreFilter computed. Also
   * undefined if one of these plugins cannot keep that up to date.
   */
  readonly others: string | undefined;
  /** Both combined: pods with equal texts are equal to all plugins that choose nodes. Undefined if one of the two is. */
  readonly whole: string | undefined;
  /** `whole` and what the PostFilter plugins sign. Undefined if one of them does not sign the pod. */
  readonly withPostFilter: string | undefined;
  /**
   * The parts of `local`, in the order of `PodSigner.local`, each with the plugin's `signCluster` text. For cached results. Undefined: the
   * plugin does not sign the pod.
   */
  readonly fragments: readonly (string | undefined)[];
}

/** A node of the trie of signatures: a common prefix of fragments. */
interface TrieNode {
  /** fragment of the next plugin -> child; absent while there is only one child */
  children: Map<string | undefined, TrieNode> | undefined;
  /** The child of the last pod; the next pod is often equal to it. */
  last: { readonly fragment: string | undefined; readonly node: TrieNode } | undefined;
  /** Set at the end of a signature. */
  signatures: PodSignatures | undefined;
}

type FailureCalls = Pick<PluginCalls, 'failure'>;

/** Maximum number of signatures to keep, and of their characters. Beyond either limit the signer drops all of them and starts over. */
const signatureLimit = 256;
const characterLimit = 1_000_000;

/**
 * Signs pods for all plugins of a profile that evaluate them. Pods with equal fragments get the same object, so that a gang of thousands
 * needs only one.
 */
export class PodSigner {
  /** Plugins that read one node at a time, in the profile's order. */
  readonly local: readonly Plugin[];
  readonly #others: readonly Plugin[];
  /** PostFilter plugins that run at none of the points above. */
  readonly #postFilters: readonly Plugin[];
  /** Whether all plugins in `#others` with PreFilter update its results after an assignment, instead of computing them again. */
  readonly #othersUpdatePreFilter: boolean;
  /** Plugins whose fragments are part of the signature. */
  readonly #signers: readonly Plugin[];
  /** Fragments of the current pod. */
  readonly #fragments: (string | undefined)[] = [];
  /** `signCluster` texts of the plugins in `#clusterSigners` for the current pod, in that order. */
  readonly #clusterFragments: string[] = [];
  /** Positions, among the signers, of the local plugins that implement `signCluster`. */
  readonly #clusterSigners: readonly number[];
  readonly #calls: FailureCalls;
  #root = newTrieNode();
  #count = 0;
  #characters = 0;

  constructor(plugins: readonly Plugin[], at: MadePlugins['at'], calls: FailureCalls) {
    this.#calls = calls;
    const signs = (plugin: Plugin): boolean =>
      judgesNodes(plugin, at) || (at.preFilter.includes(plugin) && plugin.sign !== undefined);
    this.local = plugins.filter((plugin) => plugin.readsOtherNodes !== true && signs(plugin));
    this.#others = plugins.filter((plugin) => plugin.readsOtherNodes === true && signs(plugin));
    this.#othersUpdatePreFilter = this.#others.every(
      (plugin) => !at.preFilter.includes(plugin) || hasPreFilterExtensions(plugin),
    );
    this.#postFilters = at.postFilter.filter((plugin) => !signs(plugin));
    this.#signers = this.#othersUpdatePreFilter ? [...this.local, ...this.#others, ...this.#postFilters] : this.local;
    this.#clusterSigners = [...this.local.keys()].filter((i) => this.local[i]!.signCluster !== undefined);
  }

  /** Returns whether the plugin reads other nodes and Filter, Score or a signature uses its PreFilter results. */
  isOther(plugin: Plugin): boolean {
    return this.#others.includes(plugin);
  }

  /** Throws PluginFailure. */
  sign(pod: Pod): PodSignatures {
    const fragments = this.#fragments;
    let node = this.#root;
    for (let i = 0; i < this.#signers.length; i++)
      node = childOf(node, (fragments[i] = fragmentOf(this.#signers[i]!, pod, this.#calls)));
    for (let i = 0; i < this.#clusterSigners.length; i++)
      node = childOf(
        node,
        (this.#clusterFragments[i] = clusterFragmentOf(this.local[this.#clusterSigners[i]!]!, pod, this.#calls)),
      );
    return (node.signatures ??= this.#made(fragments));
  }

  #made(fragments: readonly (string | undefined)[]): PodSignatures {
    // The caller still uses the trie node it just reached.
    const characters = fragments.reduce((sum, fragment) => sum + (fragment?.length ?? 0), 0);
    this.#characters += characters;
    if (++this.#count > signatureLimit || this.#characters > characterLimit) {
      this.#count = 1;
      this.#characters = characters;
      this.#root = newTrieNode();
    }
    const own = fragments.slice(0, this.local.length);
    const local = joined(own);
    const choosers = own.length + this.#others.length;
    const others = this.#othersUpdatePreFilter ? joined(fragments.slice(own.length, choosers)) : undefined;
    const whole = local === undefined || others === undefined ? undefined : `${others}${local}`;
    const postFilters = whole === undefined ? undefined : joined(fragments.slice(choosers));
    const withPostFilter = postFilters === undefined ? undefined : `${postFilters}${whole}`;
    for (const [i, position] of this.#clusterSigners.entries()) {
      if (own[position] !== undefined) own[position] += `\u0001${this.#clusterFragments[i]}`;
    }
    return { local, others, whole, withPostFilter, fragments: own };
  }
}

/** Returns whether the plugin runs at Filter or Score. */
export function judgesNodes(plugin: Plugin, at: MadePlugins['at']): boolean {
  return at.filter.includes(plugin) || at.score.includes(plugin);
}

function newTrieNode(): TrieNode {
  return { children: undefined, last: undefined, signatures: undefined };
}

function childOf(parent: TrieNode, fragment: string | undefined): TrieNode {
  if (parent.last?.fragment === fragment && parent.last !== undefined) return parent.last.node;
  let found = parent.children?.get(fragment);
  if (found === undefined) {
    found = newTrieNode();
    if (parent.last !== undefined) {
      parent.children ??= new Map([[parent.last.fragment, parent.last.node]]);
      parent.children.set(fragment, found);
    }
  }
  parent.last = { fragment, node: found };
  return found;
}

function fragmentOf(plugin: Plugin, pod: Pod, calls: FailureCalls): string | undefined {
  try {
    return readSignature(plugin.sign?.(pod));
  } catch (error) {
    throw new PluginFailure(calls.failure(plugin, 'Sign', error));
  }
}

function clusterFragmentOf(plugin: Plugin, pod: Pod, calls: FailureCalls): string {
  try {
    return readSignature(plugin.signCluster!(pod)) ?? '';
  } catch (error) {
    throw new PluginFailure(calls.failure(plugin, 'Sign', error));
  }
}

/** Returns undefined if one of the fragments is undefined. */
function joined(fragments: readonly (string | undefined)[]): string | undefined {
  let text = '';
  for (const fragment of fragments) {
    if (fragment === undefined) return undefined;
    text += `${fragment}\u0000`;
  }
  return text;
}
