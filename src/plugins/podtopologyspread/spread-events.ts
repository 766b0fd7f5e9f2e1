import type { Node, Taint } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { SpreadConstraint } from './spread-constraints.ts';

interface SpreadReaders {
  /** Returns the DoNotSchedule constraints of a pod. */
  readonly hard: (pod: Pod) => readonly SpreadConstraint[];
  readonly matchesNode: (pod: Pod, node: Node) => boolean;
  readonly hasHardDefaults: boolean;
}

/**
 * Returns kube-scheduler's events, and these in addition: a counted pod starts terminating, a node starts or stops counting because of
 * changed labels or taints, and another object selects the pod while DoNotSchedule defaults apply.
 */
export function spreadEvents({ hard, matchesNode, hasHardDefaults }: SpreadReaders): readonly EventRegistration[] {
  const afterPod = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'AssignedPod') return true;
    if (event.pod.namespace !== pod.namespace) return false;
    return hard(pod).some((constraint) => {
      const counted = counts(constraint, event.pod);
      return event.action === 'Update'
        ? counted !== counts(constraint, event.old)
        : constraint.selects(event.pod.labels);
    });
  };

  const afterNode = (pod: Pod, event: ClusterEvent): boolean => {
    if (event.resource !== 'Node') return true;
    const constraints = hard(pod);
    const old = event.old;
    const now = event.action === 'Delete' ? undefined : event.new;
    const isIn = (node: Node | undefined): node is Node =>
      node !== undefined && constraints.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey));
    if (!isIn(old) || !isIn(now)) return isIn(old) !== isIn(now);
    return constraints.some(
      ({ topologyKey, honorsAffinity, honorsTaints }) =>
        old.labels[topologyKey] !== now.labels[topologyKey] ||
        (honorsAffinity && matchesNode(pod, old) !== matchesNode(pod, now)) ||
        (honorsTaints && !sameTaints(old.taints, now.taints)),
    );
  };

  const afterSelecting = (pod: Pod, event: ClusterEvent): boolean =>
    'object' in event && event.object.namespace === pod.namespace && pod.template.topologySpread.length === 0;

  const registrations: EventRegistration[] = [
    { resource: 'AssignedPod', actions: ['Add', 'Update', 'Delete'], hint: afterPod },
    { resource: 'Node', actions: ['Add', 'Update', 'Delete'], hint: afterNode },
  ];
  if (hasHardDefaults) {
    for (const resource of ['Service', 'ReplicationController', 'ReplicaSet', 'StatefulSet'] as const) {
      registrations.push({ resource, actions: ['Add', 'Update', 'Delete'], hint: afterSelecting });
    }
  }
  return registrations;
}

function counts({ selects }: SpreadConstraint, { labels, deleting }: Pod): boolean {
  return !deleting && selects(labels);
}

function sameTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
