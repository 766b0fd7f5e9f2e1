import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { NodeNames, Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'NodeName';
const otherNode = new Status(
  'UnschedulableAndUnresolvable',
  { text: "node(s) didn't match the requested node name", code: 'NodeNameMismatch' },
  name,
);

/** Restricts a pod to the node it names. Pods from the queue name none; bound pods in dry runs do. */
class NodeName implements Plugin {
  readonly name = name;
  readonly #cluster: ClusterLister;

  constructor(cluster: ClusterLister) {
    this.#cluster = cluster;
  }

  sign(pod: Pod): string {
    return pod.nodeName;
  }

  preFilter(_state: CycleState, pod: Pod): NodeNames | undefined {
    return pod.nodeName === '' ? undefined : { nodeNames: new Set([pod.nodeName]) };
  }

  filter(_state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    return pod.nodeName === '' || pod.nodeName === node.name ? undefined : otherNode;
  }

  filterAll(_state: CycleState, pod: Pod, indexes: Int32Array, size: number): number {
    if (pod.nodeName === '') return size;
    const { nodes } = this.#cluster;
    let left = 0;
    for (let i = 0; i < size; i++) if (nodes[indexes[i]!]!.name === pod.nodeName) indexes[left++] = indexes[i]!;
    return left;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [{ resource: 'Node', actions: ['Add'], hint: isTheRequestedNode }];
  }
}

function isTheRequestedNode(pod: Pod, event: ClusterEvent): boolean {
  return event.resource === 'Node' && event.action === 'Add' && event.new.name === pod.nodeName;
}

export const createNodeName: PluginFactory = (args, { cluster }) => {
  noArguments(name).read(args);
  return new NodeName(cluster);
};
