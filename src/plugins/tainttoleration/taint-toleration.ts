import type { Taint } from '../../api/node.ts';
import type { Pod, Toleration } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultNormalizeScore } from '../default-normalize-score.ts';
import { latestTemplate } from '../latest-template.ts';
import { NodeClasses } from '../node-classes.ts';
import { noArguments } from '../plugin-arguments.ts';
import { isTolerated } from '../../api/tolerations.ts';

const name = 'TaintToleration';
const untolerated = new Status(
  'UnschedulableAndUnresolvable',
  { text: 'node(s) had untolerated taint(s)', code: 'UntoleratedTaint' },
  name,
);

/** Rejects nodes with NoSchedule or NoExecute taints that the pod does not tolerate. Scores nodes by PreferNoSchedule taints. */
class TaintToleration implements Plugin {
  readonly name = name;
  /** Nodes by their taints. */
  readonly #nodeClasses: NodeClasses;
  readonly #signature = latestTemplate(({ tolerations }) =>
    tolerations.length === 0 ? '' : JSON.stringify(tolerations),
  );

  constructor(cluster: ClusterLister) {
    this.#nodeClasses = new NodeClasses(cluster, ({ taints }) =>
      taints.length === 0 ? '' : JSON.stringify(taints.map(({ key, value, effect }) => [key, value, effect])),
    );
  }

  sign(pod: Pod): string {
    return this.#signature(pod.template);
  }

  filter(_state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    const { taints } = node.node;
    return taints.length === 0 || toleratesAll(taints, pod.template.tolerations) ? undefined : untolerated;
  }

  filterAll(_state: CycleState, pod: Pod, indexes: Int32Array, size: number): number {
    const { tolerations } = pod.template;
    return this.#nodeClasses.keep(indexes, size, ({ taints }) => toleratesAll(taints, tolerations));
  }

  /** Returns the number of PreferNoSchedule taints that the pod does not tolerate. */
  score(_state: CycleState, pod: Pod, node: NodeView): number {
    return intolerableCount(node.node.taints, pod.template.tolerations);
  }

  scoreAll(_state: CycleState, pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    const { tolerations } = pod.template;
    this.#nodeClasses.score(indexes, size, scores, ({ taints }) => intolerableCount(taints, tolerations));
  }

  normalizeScore(_state: CycleState, _pod: Pod, scores: Float64Array): void {
    defaultNormalizeScore(scores, true);
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [{ resource: 'Node', actions: ['Add', 'Update'], hint: nowTolerated }];
  }
}

function toleratesAll(taints: readonly Taint[], tolerations: readonly Toleration[]): boolean {
  for (let i = 0; i < taints.length; i++) {
    const taint = taints[i]!;
    const forbids = taint.effect === 'NoSchedule' || taint.effect === 'NoExecute';
    if (forbids && !isTolerated(taint, tolerations)) return false;
  }
  return true;
}

function intolerableCount(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  let count = 0;
  for (let i = 0; i < taints.length; i++) {
    const taint = taints[i]!;
    if (taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations)) count++;
  }
  return count;
}

function nowTolerated(pod: Pod, event: ClusterEvent): boolean {
  if (event.resource !== 'Node' || event.action === 'Delete') return false;
  const { tolerations } = pod.template;
  if (!toleratesAll(event.new.taints, tolerations)) return false;
  return event.old === undefined || !toleratesAll(event.old.taints, tolerations);
}

export const createTaintToleration: PluginFactory = (args, { cluster }) => {
  noArguments(name).read(args);
  return new TaintToleration(cluster);
};
