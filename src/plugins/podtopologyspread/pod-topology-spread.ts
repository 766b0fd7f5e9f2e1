import { SelectorError } from '../../api/label-selector.ts';
import type { Labels } from '../../api/label-selector.ts';
import type { ListedKind } from '../../api/listed-object.ts';
import type { Node } from '../../api/node.ts';
import type { Pod, PodTemplate } from '../../api/pod.ts';
import { isTolerated } from '../../api/tolerations.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import { anyMatches, compileNodeAffinity } from '../compile-node-affinity.ts';
import type { CompiledNodeAffinity } from '../compile-node-affinity.ts';
import { LruCache } from '../lru-cache.ts';
import { maxNodeScore } from '../node-score.ts';
import { readSpreadDefaults } from './spread-args.ts';
import type { SpreadDefaults } from './spread-args.ts';
import { defaultSpreading, noSpreading, ownSpreading } from './spread-constraints.ts';
import type { Spreading } from './spread-constraints.ts';
import { spreadEvents } from './spread-events.ts';
import { ignoredNode, SpreadState } from './spread-state.ts';
import type { SpreadVerdict, SpreadWeights } from './spread-state.ts';

const name = 'PodTopologySpread';
const reason = "node(s) didn't match pod topology spread constraints";
const rejections: Readonly<Record<SpreadVerdict, Status | undefined>> = {
  fits: undefined,
  skewed: new Status('Unschedulable', { text: reason, code: 'TopologySpreadViolated' }, name),
  unlabeled: new Status(
    'UnschedulableAndUnresolvable',
    { text: `${reason} (missing required label)`, code: 'TopologySpreadViolated' },
    name,
  ),
};

/** Kinds whose selectors determine the group of a pod without constraints of its own. */
const selectingKinds = ['Service', 'ReplicationController', 'ReplicaSet', 'StatefulSet'] as const;
/** Maximum number of cached states, one per signature. Each holds a few numbers for every node. */
const maxPreFilterStates = 64;
const preFilterStateKey = `${name}/state`;
const scoringKey = `${name}/scoring`;

interface Scoring {
  readonly preFilterState: SpreadState;
  readonly feasible: () => readonly NodeView[];
  /** Computed when the first node is scored. */
  weights: SpreadWeights | undefined;
}

/** The spread constraints of a pod, with the text that identifies them. */
interface PodSpreading {
  readonly spreading: Spreading | SelectorError;
  readonly text: string;
}

interface CachedSpreading extends PodSpreading {
  readonly template: PodTemplate;
  readonly namespace: string;
  readonly revision: number;
}

/** Spreads pods over topology domains according to their own constraints or the defaults. */
class PodTopologySpread implements Plugin {
  readonly name = name;
  readonly readsOtherNodes = true;
  readonly reads: readonly ListedKind[];
  readonly #cluster: ClusterLister;
  readonly #defaults: SpreadDefaults;
  readonly #preFilterStates = new LruCache<SpreadState>(maxPreFilterStates);
  /** labels -> latest constraints of a pod with them */
  readonly #cached = new WeakMap<Labels, CachedSpreading>();
  /** template -> the nodes that its nodeSelector and node affinity match */
  readonly #nodeMatchers = new WeakMap<PodTemplate, NodeMatcher>();

  constructor(args: unknown, cluster: ClusterLister) {
    this.#cluster = cluster;
    this.#defaults = readSpreadDefaults(args);
    this.reads = this.#defaults.constraints.length > 0 ? selectingKinds : [];
  }

  /** Empty for a pod without constraints. */
  sign(pod: Pod): string {
    return this.#spreadingOf(pod).text;
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    const { spreading, text } = this.#spreadingOf(pod);
    if (spreading instanceof SelectorError) return invalidConstraints(spreading);
    // Whether a pod has constraints does not depend on other pods.
    if (spreading.hard.length === 0) return Status.skipThroughout;
    state.write(preFilterStateKey, this.#preFilterState(pod, spreading, text));
    return undefined;
  }

  /** Reads the counts from the cluster cache, which already includes the added pod. */
  preFilterAddPod(state: CycleState): Status | undefined {
    state.read<SpreadState>(preFilterStateKey)!.refresh();
    return undefined;
  }

  preFilterRemovePod(state: CycleState): Status | undefined {
    state.read<SpreadState>(preFilterStateKey)!.refresh();
    return undefined;
  }

  filter(state: CycleState, _pod: Pod, node: NodeView): Status | undefined {
    return rejections[state.read<SpreadState>(preFilterStateKey)!.verdict(node.index)];
  }

  filterAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number): number {
    return state.read<SpreadState>(preFilterStateKey)!.keepFitting(indexes, size);
  }

  dependsOnPod(state: CycleState, _pod: Pod, other: Pod): boolean {
    return state.read<SpreadState>(preFilterStateKey)!.isFilteredBy(other);
  }

  preScore(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined {
    const { spreading, text } = this.#spreadingOf(pod);
    if (spreading instanceof SelectorError || spreading.soft.length === 0) return skip;
    const preFilterState = this.#preFilterState(pod, spreading, text);
    state.write(scoringKey, { preFilterState, feasible, weights: undefined } satisfies Scoring);
    return undefined;
  }

  /** Without the plugin's PreScore in the profile, all nodes score 0. */
  score(state: CycleState, _pod: Pod, { index }: NodeView): number {
    const scoring = state.read<Scoring>(scoringKey);
    if (scoring === undefined) return 0;
    const { preFilterState, feasible } = scoring;
    scoring.weights ??= preFilterState.weights(Int32Array.from(feasible(), (node) => node.index));
    return preFilterState.score(index, scoring.weights);
  }

  scoreAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    const scoring = state.read<Scoring>(scoringKey);
    if (scoring === undefined) {
      for (let i = 0; i < size; i++) scores[indexes[i]!] = 0;
      return;
    }
    const { preFilterState } = scoring;
    scoring.weights ??= preFilterState.weights(indexes.subarray(0, size));
    preFilterState.scoreAll(indexes, size, scoring.weights, scores);
  }

  /** As in kube-scheduler: the lower the raw score, the higher the result, in whole numbers; an ignored node gets 0. */
  normalizeScore(_state: CycleState, _pod: Pod, scores: Float64Array): void {
    let min = Infinity;
    let max = 0;
    for (let i = 0; i < scores.length; i++) {
      const score = scores[i]!;
      if (score === ignoredNode) continue;
      if (score < min) min = score;
      if (score > max) max = score;
    }
    for (let i = 0; i < scores.length; i++) {
      const score = scores[i]!;
      if (score === ignoredNode) scores[i] = 0;
      else if (max === 0) scores[i] = maxNodeScore;
      else scores[i] = Math.trunc((maxNodeScore * (max + min - score)) / max);
    }
  }

  eventsToRegister(): readonly EventRegistration[] {
    return spreadEvents({
      hard: (pod) => {
        const { spreading } = this.#spreadingOf(pod);
        return spreading instanceof SelectorError ? [] : spreading.hard;
      },
      matchesNode: (pod, node) => this.#nodeMatcherOf(pod.template).matchesNode(node),
      hasHardDefaults: this.#defaults.constraints.some(
        (constraint) => constraint.whenUnsatisfiable === 'DoNotSchedule',
      ),
    });
  }

  #preFilterState(pod: Pod, spreading: Spreading, text: string): SpreadState {
    const preFilterState = this.#preFilterStates.of(text, () => {
      const { namespace, template } = pod;
      const { matchesNode, text: choice } = this.#nodeMatcherOf(template);
      return new SpreadState(
        {
          namespace,
          spreading,
          matchesNode,
          hasNodeAffinity: choice !== '',
          isTolerated: ({ taints }) =>
            taints.every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, template.tolerations)),
        },
        this.#cluster,
      );
    });
    preFilterState.refresh();
    return preFilterState;
  }

  #spreadingOf(pod: Pod): PodSpreading {
    const { template, labels, namespace } = pod;
    const isOwn = template.topologySpread.length > 0;
    if (!isOwn && !this.#mayBeSelected(pod)) return nothingToSpread;
    const revision = isOwn ? 0 : this.#listedRevision();
    const cached = this.#cached.get(labels);
    const isCurrent = cached?.template === template && cached.namespace === namespace && cached.revision === revision;
    if (isCurrent) return cached;
    const spreading = isOwn ? ownOrError(pod) : defaultSpreading(this.#defaults, pod, this.#cluster.listed);
    const latest = { spreading, text: this.#textOf(pod, spreading), template, namespace, revision };
    this.#cached.set(labels, latest);
    return latest;
  }

  /** A cheap check for pods in namespaces without Services. */
  #mayBeSelected({ template, namespace }: Pod): boolean {
    if (this.#defaults.constraints.length === 0) return false;
    if (template.controller !== undefined) return true;
    for (const _ of this.#cluster.listed.in('Service', namespace)) return true;
    return false;
  }

  #listedRevision(): number {
    const { listed } = this.#cluster;
    let sum = 0;
    for (const kind of selectingKinds) sum += listed.revision(kind);
    return sum;
  }

  #textOf({ namespace, template }: Pod, spreading: Spreading | SelectorError): string {
    if (spreading instanceof SelectorError) return `!${spreading.message}`;
    const { hard, soft, text } = spreading;
    if (hard.length + soft.length === 0) return '';
    const all = [...hard, ...soft];
    const choice = all.some(({ honorsAffinity }) => honorsAffinity) ? this.#nodeMatcherOf(template).text : '';
    const taints = all.some(({ honorsTaints }) => honorsTaints) ? JSON.stringify(template.tolerations) : '';
    return JSON.stringify([namespace, text, choice, taints]);
  }

  #nodeMatcherOf(template: PodTemplate): NodeMatcher {
    let choice = this.#nodeMatchers.get(template);
    if (choice === undefined) {
      choice = nodeMatcherOf(template);
      this.#nodeMatchers.set(template, choice);
    }
    return choice;
  }
}

/** The nodes that match a pod's nodeSelector and required node affinity. */
interface NodeMatcher {
  readonly matchesNode: (node: Node) => boolean;
  /** Equal texts match the same nodes; empty: all nodes. */
  readonly text: string;
}

const nothingToSpread: PodSpreading = { spreading: noSpreading, text: '' };

function nodeMatcherOf({ nodeSelector, nodeAffinity }: PodTemplate): NodeMatcher {
  const labels = Object.entries(nodeSelector ?? {});
  const rules = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (labels.length === 0 && rules === undefined) return { matchesNode: () => true, text: '' };
  let required: CompiledNodeAffinity['required'];
  try {
    required = rules && compileNodeAffinity({ requiredDuringSchedulingIgnoredDuringExecution: rules }, '').required;
  } catch (error) {
    // NodeAffinity rejects the pod with the reason.
    if (!(error instanceof SelectorError)) throw error;
    required = [];
  }
  return {
    matchesNode: (node) =>
      labels.every(([key, value]) => node.labels[key] === value) &&
      (required === undefined || anyMatches(required, node)),
    text: JSON.stringify([labels, rules]),
  };
}

function ownOrError(pod: Pod): Spreading | SelectorError {
  try {
    return ownSpreading(pod);
  } catch (error) {
    if (error instanceof SelectorError) return error;
    throw error;
  }
}

function invalidConstraints({ message }: SelectorError): Status {
  return new Status('UnschedulableAndUnresolvable', `invalid pod spec: ${message}`, name);
}

export const createPodTopologySpread: PluginFactory = (args, { cluster }) => new PodTopologySpread(args, cluster);
