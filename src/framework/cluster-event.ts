import type { GangView } from '../cluster/gang.ts';
import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';

/**
 * A change of the cluster that may help what could not be scheduled. `AssignedPod` is a pod on a node, confirmed or
 * assumed: its Delete also stands for a committed assumption that was given up.
 */
export type ClusterEvent =
  | { readonly resource: 'Node'; readonly action: 'Add' | 'Update'; readonly old: Node | undefined; readonly new: Node }
  | { readonly resource: 'Node'; readonly action: 'Delete'; readonly old: Node }
  | { readonly resource: 'AssignedPod'; readonly action: 'Add' | 'Update' | 'Delete'; readonly pod: Pod }
  | { readonly resource: 'UnscheduledPod'; readonly action: 'Add' | 'Update' | 'Delete'; readonly pod: Pod }
  | { readonly resource: 'PodGroup'; readonly action: 'Add' | 'Update' | 'Delete'; readonly gang: GangView };

export type ClusterResource = ClusterEvent['resource'];

/**
 * Asked for an event that a plugin registered: could it make `pod`, which this plugin turned away, schedulable?
 * True queues it again. A throw counts as true.
 */
export type QueueingHint = (pod: Pod, event: ClusterEvent) => boolean;

export interface EventRegistration {
  readonly resource: ClusterResource;
  readonly actions: readonly ClusterEvent['action'][];
  /** Absent: every such event queues. */
  readonly hint?: QueueingHint;
  /** Gangs are asked about whichever plugin turned them away, because the event may be about the gang itself. */
  readonly concernsGangs?: boolean;
}
