import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { NodeClasses } from '../node-classes.ts';
import { noArguments } from '../plugin-arguments.ts';
import { isTolerated } from '../../api/tolerations.ts';

const name = 'NodeUnschedulable';
const rejection = new Status(
  'UnschedulableAndUnresolvable',
  { text: 'node(s) were unschedulable', code: 'Cordoned' },
  name,
);
/** Taint of a cordoned node. A pod that tolerates it accepts `spec.unschedulable`. */
const cordonTaint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' } as const;

/** Rejects cordoned nodes, unless the pod tolerates their taint. */
class NodeUnschedulable implements Plugin {
  readonly name = name;
  /** Nodes by whether they are cordoned. */
  readonly #nodeClasses: NodeClasses;

  constructor(cluster: ClusterLister) {
    this.#nodeClasses = new NodeClasses(cluster, ({ unschedulable }) => (unschedulable ? 'cordoned' : ''));
  }

  sign(pod: Pod): string {
    return isTolerated(cordonTaint, pod.template.tolerations) ? 'tolerates' : '';
  }

  filter(_state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    if (!node.node.unschedulable || isTolerated(cordonTaint, pod.template.tolerations)) return undefined;
    return rejection;
  }

  filterAll(_state: CycleState, pod: Pod, indexes: Int32Array, size: number): number {
    const isTolerant = isTolerated(cordonTaint, pod.template.tolerations);
    return this.#nodeClasses.keep(indexes, size, ({ unschedulable }) => !unschedulable || isTolerant);
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [{ resource: 'Node', actions: ['Add', 'Update'], hint: becameSchedulable }];
  }
}

function becameSchedulable(_pod: Pod, event: ClusterEvent): boolean {
  if (event.resource !== 'Node' || event.action === 'Delete') return false;
  return !event.new.unschedulable && (event.old === undefined || event.old.unschedulable);
}

export const createNodeUnschedulable: PluginFactory = (args, { cluster }) => {
  noArguments(name).read(args);
  return new NodeUnschedulable(cluster);
};
