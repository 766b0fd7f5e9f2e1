import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip, Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'NodeDeclaredFeatures';
const lacksFeatures = new Status(
  'UnschedulableAndUnresolvable',
  { text: "node(s) didn't match Pod's required features", code: 'MissingNodeFeature' },
  name,
);

/** Rejects nodes that do not declare the kubelet features that the pod requires. */
class NodeDeclaredFeatures implements Plugin {
  readonly name = name;

  sign(pod: Pod): string {
    return pod.template.neededFeatures.join(' ');
  }

  preFilter(_state: CycleState, pod: Pod): Status | undefined {
    return pod.template.neededFeatures.length === 0 ? skip : undefined;
  }

  filter(_state: CycleState, pod: Pod, { node }: NodeView): Status | undefined {
    return declaresAll(node, pod) ? undefined : lacksFeatures;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [{ resource: 'Node', actions: ['Add', 'Update'], hint: nowDeclaresAll }];
  }
}

function declaresAll({ declaredFeatures }: Node, pod: Pod): boolean {
  const { neededFeatures } = pod.template;
  for (let i = 0; i < neededFeatures.length; i++) if (!declaredFeatures.includes(neededFeatures[i]!)) return false;
  return true;
}

function nowDeclaresAll(pod: Pod, event: ClusterEvent): boolean {
  if (event.resource !== 'Node' || event.action === 'Delete' || !declaresAll(event.new, pod)) return false;
  return event.old === undefined || !declaresAll(event.old, pod);
}

const knownArguments = noArguments(name);

export const createNodeDeclaredFeatures: PluginFactory = (args) => {
  knownArguments.read(args);
  return new NodeDeclaredFeatures();
};
