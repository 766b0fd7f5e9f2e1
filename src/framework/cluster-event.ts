import type { GangView } from '../cluster/gang.ts';
import type { ListedKind, ListedObject } from '../api/listed-object.ts';
import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';

/**
 * A change of the cluster that may help what could not be scheduled: only what changes something that scheduling reads is one.
 * `AssignedPod` is a pod on a node, confirmed or assumed, and names the node: its Delete also stands for a committed assumption
 * that was given up, and for room that is no longer kept.
 */
export type ClusterEvent =
  | { readonly resource: 'Node'; readonly action: 'Add' | 'Update'; readonly old: Node | undefined; readonly new: Node }
  | { readonly resource: 'Node'; readonly action: 'Delete'; readonly old: Node }
  | { readonly resource: 'AssignedPod' | 'UnscheduledPod'; readonly action: 'Add' | 'Delete'; readonly pod: Pod }
  | {
      readonly resource: 'AssignedPod' | 'UnscheduledPod';
      readonly action: 'Update';
      readonly pod: Pod;
      /** As it was before. */
      readonly old: Pod;
    }
  | {
      readonly resource: ListedKind;
      readonly action: 'Add' | 'Update' | 'Delete';
      /** As it is, or last was. */
      readonly object: ListedObject;
      /** As it was before an Update. */
      readonly old: ListedObject | undefined;
    }
  | { readonly resource: 'PodGroup'; readonly action: 'Add' | 'Update' | 'Delete'; readonly gang: GangView };

/** The event that says that room which the pod had on the node, or which was kept for it there, is free. */
export function capacityFreed(pod: Pod, nodeName: string): ClusterEvent {
  return { resource: 'AssignedPod', action: 'Delete', pod: pod.nodeName === nodeName ? pod : { ...pod, nodeName } };
}

export type ClusterResource = ClusterEvent['resource'];

/**
 * Asked for an event that a plugin registered: could it make `pod`, which this plugin turned away, schedulable?
 * True queues it again. A throw counts as true.
 */
export type QueueingHint = (pod: Pod, event: ClusterEvent) => boolean;

/**
 * What a plugin wants to hear of. A change of a waiting pod or gang itself needs no registration: whoever asks for something else
 * than before is tried again.
 */
export interface EventRegistration {
  readonly resource: ClusterResource;
  readonly actions: readonly ClusterEvent['action'][];
  /** Absent: every such event queues. */
  readonly hint?: QueueingHint;
  /** Gangs are asked about whichever plugin turned them away. */
  readonly concernsGangs?: boolean;
}
