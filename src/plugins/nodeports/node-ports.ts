import type { HostPort, Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'NodePorts';
const portInUse = new Status(
  'Unschedulable',
  { text: "node(s) didn't have free ports for the requested pod ports", code: 'PortConflict' },
  name,
);
const allAddresses = '0.0.0.0';

/** Rejects nodes where a host port of the pod is in use: same protocol and port, on the same address or on all addresses. */
class NodePorts implements Plugin {
  readonly name = name;

  sign(pod: Pod): string {
    const { hostPorts } = pod.template;
    return hostPorts.length === 0 ? '' : JSON.stringify(hostPorts);
  }

  preFilter(_state: CycleState, pod: Pod): Status | undefined {
    return pod.template.hostPorts.length === 0 ? skip : undefined;
  }

  filter(_state: CycleState, pod: Pod, node: NodeView): Status | undefined {
    return someConflict(pod.template.hostPorts, node.hostPorts) ? portInUse : undefined;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      { resource: 'AssignedPod', actions: ['Delete'], hint: freesConflictingPort },
      { resource: 'Node', actions: ['Add'] },
    ];
  }
}

function someConflict(requested: readonly HostPort[], used: readonly HostPort[]): boolean {
  for (let i = 0; i < requested.length; i++) {
    for (let j = 0; j < used.length; j++) if (conflict(requested[i]!, used[j]!)) return true;
  }
  return false;
}

function conflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.hostIP === b.hostIP || a.hostIP === allAddresses || b.hostIP === allAddresses;
}

function freesConflictingPort(pod: Pod, event: ClusterEvent): boolean {
  return event.resource === 'AssignedPod' && someConflict(pod.template.hostPorts, event.pod.template.hostPorts);
}

export const createNodePorts: PluginFactory = (args) => {
  noArguments(name).read(args);
  return new NodePorts();
};
