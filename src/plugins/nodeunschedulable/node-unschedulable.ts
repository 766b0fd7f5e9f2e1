import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';
import { isTolerated } from '../../api/tolerations.ts';

const name = 'NodeUnschedulable';
const unschedulable = new Status('UnschedulableAndUnresolvable', 'node(s) were unschedulable', name);
/** What the node controller puts on a cordoned node; tolerating it means accepting `spec.unschedulable`. */
const cordonTaint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' } as const;

/** Refuses cordoned nodes, unless the pod tolerates the taint that stands for it. */
class NodeUnschedulable implements Plugin {
  readonly name = name;

  sign(pod: Pod): string {
    return isTolerated(cordonTaint, pod.template.tolerations) ? 'tolerates' : '';
  }

  filter(_state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    if (!node.node.unschedulable || isTolerated(cordonTaint, pod.template.tolerations)) return undefined;
    return unschedulable;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [{ resource: 'Node', actions: ['Add', 'Update'], hint: becameSchedulable }];
  }
}

function becameSchedulable(_pod: Pod, event: ClusterEvent): boolean {
  if (event.resource !== 'Node' || event.action === 'Delete') return false;
  return !event.new.unschedulable && (event.old === undefined || event.old.unschedulable);
}

export const createNodeUnschedulable: PluginFactory = (args) => {
  noArguments(name).read(args);
  return new NodeUnschedulable();
};
