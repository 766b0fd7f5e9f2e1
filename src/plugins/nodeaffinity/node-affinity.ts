import { SelectorError } from '../../api/label-selector.ts';
import type { Node } from '../../api/node.ts';
import type { Pod, PodTemplate } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { NodeNames, Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import { defaultNormalizeScore } from '../default-normalize-score.ts';
import { readAddedAffinity } from './added-affinity.ts';
import { anyMatches, compileNodeAffinity } from '../compile-node-affinity.ts';
import type { CompiledNodeAffinity, PreferredTerm } from '../compile-node-affinity.ts';

const name = 'NodeAffinity';
const podMismatch = new Status(
  'UnschedulableAndUnresolvable',
  { text: "node(s) didn't match Pod's node affinity/selector", code: 'NodeAffinityMismatch' },
  name,
);
const addedMismatch = new Status(
  'UnschedulableAndUnresolvable',
  { text: "node(s) didn't match scheduler-enforced node affinity", code: 'NodeAffinityMismatch' },
  name,
);
const conflictingNames = new Status(
  'UnschedulableAndUnresolvable',
  { text: 'pod affinity terms conflict', code: 'NodeAffinityMismatch' },
  name,
);
const noAffinity: CompiledNodeAffinity = { required: undefined, nodeNames: undefined, preferred: [] };
const noNodeMatches: CompiledNodeAffinity = { required: [], nodeNames: undefined, preferred: [] };

/** What the plugin reads of a template, compiled. */
interface CompiledTemplate {
  readonly selectorKeys: readonly string[];
  readonly selectorValues: readonly string[];
  readonly affinity: CompiledNodeAffinity;
  /** Result of PreFilter. */
  readonly preFilter: Status | NodeNames | undefined;
  /** Result of PreScore. */
  readonly preScore: Status | undefined;
  readonly signature: string;
}

/**
 * Requires a pod's nodeSelector and required node affinity, and scores nodes by the weights of its preferred terms. The argument
 * `addedAffinity` applies to every pod in addition to its own.
 */
class NodeAffinity implements Plugin {
  readonly name = name;
  readonly #added: CompiledNodeAffinity;
  /** template -> compiled template */
  readonly #compiled = new WeakMap<PodTemplate, CompiledTemplate>();
  // The latest template, because a cycle runs Filter for one template on thousands of nodes.
  #latestTemplate: PodTemplate | undefined;
  #latestCompiled: CompiledTemplate | undefined;

  constructor(added: CompiledNodeAffinity) {
    this.#added = added;
  }

  sign(pod: Pod): string {
    return this.#compiledOf(pod.template).signature;
  }

  preFilter(_state: CycleState, pod: Pod): Status | NodeNames | undefined {
    return this.#compiledOf(pod.template).preFilter;
  }

  filter(_state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    return this.#check(pod, node.node);
  }

  preScore(_state: CycleState, pod: Pod): Status | undefined {
    return this.#compiledOf(pod.template).preScore;
  }

  /** Returns the sum of the weights of the preferred terms that match. */
  score(_state: CycleState, pod: Pod, node: NodeView): number {
    return (
      matchingWeight(this.#compiledOf(pod.template).affinity.preferred, node.node) +
      matchingWeight(this.#added.preferred, node.node)
    );
  }

  normalizeScore(_state: CycleState, _pod: Pod, scores: Float64Array): void {
    defaultNormalizeScore(scores, false);
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [{ resource: 'Node', actions: ['Add', 'Update'], hint: (pod, event) => this.#nowMatches(pod, event) }];
  }

  #nowMatches(pod: Pod, event: ClusterEvent): boolean {
    if (event.resource !== 'Node' || event.action === 'Delete') return false;
    if (this.#check(pod, event.new) !== undefined) return false;
    return event.old === undefined || this.#check(pod, event.old) !== undefined;
  }

  #check(pod: Pod, node: Node): Status | undefined {
    if (this.#added.required !== undefined && !anyMatches(this.#added.required, node)) return addedMismatch;
    const { selectorKeys, selectorValues, affinity } = this.#compiledOf(pod.template);
    for (let i = 0; i < selectorKeys.length; i++) {
      if (node.labels[selectorKeys[i]!] !== selectorValues[i]) return podMismatch;
    }
    return affinity.required === undefined || anyMatches(affinity.required, node) ? undefined : podMismatch;
  }

  #compiledOf(template: PodTemplate): CompiledTemplate {
    if (this.#latestTemplate === template) return this.#latestCompiled!;
    let compiled = this.#compiled.get(template);
    if (compiled === undefined) {
      compiled = this.#compile(template);
      this.#compiled.set(template, compiled);
    }
    this.#latestTemplate = template;
    this.#latestCompiled = compiled;
    return compiled;
  }

  #compile({ nodeSelector, nodeAffinity }: PodTemplate): CompiledTemplate {
    const selector = Object.entries(nodeSelector ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    const path = 'spec.affinity.nodeAffinity';
    // The API server accepts some invalid terms.
    const malformed: { required: SelectorError[]; preferred: SelectorError[] } = { required: [], preferred: [] };
    let affinity = noAffinity;
    let preFilter: Status | NodeNames | undefined;
    try {
      if (nodeAffinity !== undefined) {
        affinity = compileNodeAffinity(nodeAffinity, path, {
          required: (error) => malformed.required.push(error),
          preferred: (error) => malformed.preferred.push(error),
        });
      }
      const requiresNothing = selector.length === 0 && affinity.required === undefined;
      if (requiresNothing && this.#added.required === undefined) preFilter = skip;
      else if (affinity.nodeNames?.size === 0) preFilter = conflictingNames;
      else if (affinity.nodeNames !== undefined) preFilter = { nodeNames: affinity.nodeNames };
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      malformed.required.push(error);
      affinity = noNodeMatches;
    }
    const [first] = malformed.required;
    if (first !== undefined && malformed.required.length >= (affinity.required?.length ?? 0)) {
      // No node can match, so reject the pod with the error.
      preFilter = new Status('UnschedulableAndUnresolvable', first.message, name, first);
    }
    const [invalid] = malformed.preferred;
    let preScore = affinity.preferred.length === 0 && this.#added.preferred.length === 0 ? skip : undefined;
    if (invalid !== undefined) preScore = new Status('Error', invalid.message, name, invalid);
    return {
      selectorKeys: selector.map(([key]) => key),
      selectorValues: selector.map(([, value]) => value),
      affinity,
      preFilter,
      preScore,
      signature:
        selector.length === 0 && nodeAffinity === undefined ? '' : JSON.stringify([selector, nodeAffinity ?? null]),
    };
  }
}

function matchingWeight(terms: readonly PreferredTerm[], node: Node): number {
  let sum = 0;
  for (let i = 0; i < terms.length; i++) if (terms[i]!.matches(node)) sum += terms[i]!.weight;
  return sum;
}

/** Takes the argument `addedAffinity`, which has the form of a pod's node affinity. */
export const createNodeAffinity: PluginFactory = (args) => new NodeAffinity(readAddedAffinity(args) ?? noAffinity);
