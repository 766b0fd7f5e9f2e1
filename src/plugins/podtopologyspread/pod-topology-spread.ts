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
import { KeptByText } from '../kept-by-text.ts';
import { maxNodeScore } from '../node-score.ts';
import { readSpreadDefaults } from './spread-args.ts';
import type { SpreadDefaults } from './spread-args.ts';
import { defaultSpreading, noSpreading, ownSpreading } from './spread-constraints.ts';
import type { Spreading } from './spread-constraints.ts';
import { spreadEvents } from './spread-events.ts';
import { leftAside, SpreadState } from './spread-state.ts';
import type { SpreadVerdict, SpreadWeights } from './spread-state.ts';

const name = 'PodTopologySpread';
const reason = "node(s) didn't match pod topology spread constraints";
const rejections: Readonly<Record<SpreadVerdict, Status | undefined>> = {
  fits: undefined,
  skewed: new Status('Unschedulable', reason, name),
  unlabelled: new Status('UnschedulableAndUnresolvable', `${reason} (missing required label)`, name),
};

/** What tells which pods belong together, for pods that say nothing themselves. */
const selecting = ['Service', 'ReplicationController', 'ReplicaSet', 'StatefulSet'] as const;
/** Of those that ask differently; each has a few numbers for every node. */
const mostPreFilterStates = 64;
const preFilterStateKey = `${name}/question`;
const scoringKey = `${name}/scoring`;

interface Scoring {
  readonly preFilterState: SpreadState;
  readonly feasible: () => readonly NodeView[];
  /** Known from the first node on that is scored: who scores all of them need not list them twice. */
  weights: SpreadWeights | undefined;
}

/** What a pod asks for, with what tells it from others. */
interface Asked {
  readonly spreading: Spreading | SelectorError;
  readonly text: string;
}

interface AskedBy extends Asked {
  readonly template: PodTemplate;
  readonly namespace: string;
  readonly revision: number;
}

/** Spreads pods over the domains of topologies, as their constraints or the defaults ask. */
class PodTopologySpread implements Plugin {
  readonly name = name;
  readonly readsOtherNodes = true;
  readonly reads: readonly ListedKind[];
  readonly #cluster: ClusterLister;
  readonly #defaults: SpreadDefaults;
  readonly #preFilterStates = new KeptByText<SpreadState>(mostPreFilterStates);
  /** labels -> what a pod with them asked for last */
  readonly #asked = new WeakMap<Labels, AskedBy>();
  /** template -> which nodes it may go to */
  readonly #nodeAffinity = new WeakMap<PodTemplate, NodeChoice>();

  constructor(args: unknown, cluster: ClusterLister) {
    this.#cluster = cluster;
    this.#defaults = readSpreadDefaults(args);
    this.reads = this.#defaults.constraints.length > 0 ? selecting : [];
  }

  /** Empty where nothing is to be spread. */
  sign(pod: Pod): string {
    return this.#ask(pod).text;
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    const { spreading, text } = this.#ask(pod);
    if (spreading instanceof SelectorError) return notUnderstood(spreading);
    // What a pod asks for does not depend on where others are.
    if (spreading.hard.length === 0) return Status.skipThroughout;
    state.write(preFilterStateKey, this.#preFilterState(pod, spreading, text));
    return undefined;
  }

  /** What is counted follows the picture, where the pod is already. */
  preFilterAddPod(state: CycleState): Status | undefined {
    state.read<SpreadState>(preFilterStateKey)!.bringUpToDate();
    return undefined;
  }

  preFilterRemovePod(state: CycleState): Status | undefined {
    state.read<SpreadState>(preFilterStateKey)!.bringUpToDate();
    return undefined;
  }

  filter(state: CycleState, _pod: Pod, node: NodeView): Status | undefined {
    return rejections[state.read<SpreadState>(preFilterStateKey)!.verdict(node.index)];
  }

  filterAll(state: CycleState, _pod: Pod, indexes: Int32Array, size: number): number {
    return state.read<SpreadState>(preFilterStateKey)!.keepFitting(indexes, size);
  }

  preScore(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined {
    const { spreading, text } = this.#ask(pod);
    if (spreading instanceof SelectorError || spreading.soft.length === 0) return skip;
    const preFilterState = this.#preFilterState(pod, spreading, text);
    state.write(scoringKey, { preFilterState, feasible, weights: undefined } satisfies Scoring);
    return undefined;
  }

  /** To a profile without its PreScore all nodes are alike. */
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

  /** kube-scheduler's: the less the better, in whole numbers; a node that is left aside gets 0. */
  normalizeScore(_state: CycleState, _pod: Pod, scores: Float64Array): void {
    let least = Infinity;
    let greatest = 0;
    for (let i = 0; i < scores.length; i++) {
      const score = scores[i]!;
      if (score === leftAside) continue;
      if (score < least) least = score;
      if (score > greatest) greatest = score;
    }
    for (let i = 0; i < scores.length; i++) {
      const score = scores[i]!;
      if (score === leftAside) scores[i] = 0;
      else if (greatest === 0) scores[i] = maxNodeScore;
      else scores[i] = Math.trunc((maxNodeScore * (greatest + least - score)) / greatest);
    }
  }

  eventsToRegister(): readonly EventRegistration[] {
    return spreadEvents({
      hard: (pod) => {
        const { spreading } = this.#ask(pod);
        return spreading instanceof SelectorError ? [] : spreading.hard;
      },
      isChosen: (pod, node) => this.#choiceOf(pod.template).isChosen(node),
      hasHardDefaults: this.#defaults.constraints.some(
        (constraint) => constraint.whenUnsatisfiable === 'DoNotSchedule',
      ),
    });
  }

  #preFilterState(pod: Pod, spreading: Spreading, text: string): SpreadState {
    const preFilterState = this.#preFilterStates.of(text, () => {
      const { namespace, template } = pod;
      const { isChosen, text: choice } = this.#choiceOf(template);
      return new SpreadState(
        {
          namespace,
          spreading,
          isChosen,
          choosesNodes: choice !== '',
          isTolerated: ({ taints }) =>
            taints.every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, template.tolerations)),
        },
        this.#cluster,
      );
    });
    preFilterState.bringUpToDate();
    return preFilterState;
  }

  #ask(pod: Pod): Asked {
    const { template, labels, namespace } = pod;
    const isOwn = template.topologySpread.length > 0;
    if (!isOwn && !this.#mayBeSelected(pod)) return askedNothing;
    const revision = isOwn ? 0 : this.#listedRevision();
    const known = this.#asked.get(labels);
    const isKnown = known?.template === template && known.namespace === namespace && known.revision === revision;
    if (isKnown) return known;
    const spreading = isOwn ? ownOrError(pod) : defaultSpreading(this.#defaults, pod, this.#cluster.listed);
    const asked = { spreading, text: this.#textOf(pod, spreading), template, namespace, revision };
    this.#asked.set(labels, asked);
    return asked;
  }

  /** Cheap, for the many whose namespace has nothing that selects pods. */
  #mayBeSelected({ template, namespace }: Pod): boolean {
    if (this.#defaults.constraints.length === 0) return false;
    if (template.controller !== undefined) return true;
    for (const _ of this.#cluster.listed.in('Service', namespace)) return true;
    return false;
  }

  #listedRevision(): number {
    const { listed } = this.#cluster;
    let sum = 0;
    for (const kind of selecting) sum += listed.revision(kind);
    return sum;
  }

  #textOf({ namespace, template }: Pod, spreading: Spreading | SelectorError): string {
    if (spreading instanceof SelectorError) return `!${spreading.message}`;
    const { hard, soft, text } = spreading;
    if (hard.length + soft.length === 0) return '';
    const all = [...hard, ...soft];
    const choice = all.some(({ honorsAffinity }) => honorsAffinity) ? this.#choiceOf(template).text : '';
    const taints = all.some(({ honorsTaints }) => honorsTaints) ? JSON.stringify(template.tolerations) : '';
    return JSON.stringify([namespace, text, choice, taints]);
  }

  #choiceOf(template: PodTemplate): NodeChoice {
    let choice = this.#nodeAffinity.get(template);
    if (choice === undefined) {
      choice = nodeChoiceOf(template);
      this.#nodeAffinity.set(template, choice);
    }
    return choice;
  }
}

/** Which nodes a pod's nodeSelector and required node affinity let it go to. */
interface NodeChoice {
  readonly isChosen: (node: Node) => boolean;
  /** Equal ones choose the same; empty: all. */
  readonly text: string;
}

const askedNothing: Asked = { spreading: noSpreading, text: '' };

function nodeChoiceOf({ nodeSelector, nodeAffinity }: PodTemplate): NodeChoice {
  const labels = Object.entries(nodeSelector ?? {});
  const rules = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (labels.length === 0 && rules === undefined) return { isChosen: () => true, text: '' };
  let required: CompiledNodeAffinity['required'];
  try {
    required = rules && compileNodeAffinity({ requiredDuringSchedulingIgnoredDuringExecution: rules }, '').required;
  } catch (error) {
    // NodeAffinity rejects the pod, and says why.
    if (!(error instanceof SelectorError)) throw error;
    required = [];
  }
  return {
    isChosen: (node) =>
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

function notUnderstood({ message }: SelectorError): Status {
  return new Status('UnschedulableAndUnresolvable', `the pod's spec cannot be understood: ${message}`, name);
}

export const createPodTopologySpread: PluginFactory = (args, { cluster }) => new PodTopologySpread(args, cluster);
