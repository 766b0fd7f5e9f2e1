import type { GangView } from '../cluster/gang-view.ts';
import type { ListedKind, ListedObject } from '../api/listed-object.ts';
import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';

/**
 * A cluster change that may make an unschedulable entity schedulable. A change that scheduling does not read causes no event.
 * `AssignedPod` is a bound or assumed pod with its node name. Its Delete also reports that the scheduler has given up a committed
 * assumption or released a reservation.
 */
export type ClusterEvent =
  | { readonly resource: 'Node'; readonly action: 'Add' | 'Update'; readonly old: Node | undefined; readonly new: Node }
  | { readonly resource: 'Node'; readonly action: 'Delete'; readonly old: Node }
  | { readonly resource: 'AssignedPod' | 'UnscheduledPod'; readonly action: 'Add' | 'Delete'; readonly pod: Pod }
  | {
      readonly resource: 'AssignedPod' | 'UnscheduledPod';
      readonly action: 'Update';
      readonly pod: Pod;
      /** The state before the update. */
      readonly old: Pod;
    }
  | {
      readonly resource: ListedKind;
      readonly action: 'Add' | 'Update' | 'Delete';
      /** The current or last known state. */
      readonly object: ListedObject;
      /** The state before an Update. */
      readonly old: ListedObject | undefined;
    }
  | { readonly resource: 'PodGroup'; readonly action: 'Add' | 'Update' | 'Delete'; readonly gang: GangView };

/** Returns the event for capacity on the node that the pod, or a reservation for it, no longer uses. */
export function capacityFreed(pod: Pod, nodeName: string): ClusterEvent {
  return { resource: 'AssignedPod', action: 'Delete', pod: pod.nodeName === nodeName ? pod : { ...pod, nodeName } };
}

export type ClusterResource = ClusterEvent['resource'];

/**
 * Called for an event that a plugin registered. Returns whether the event may make `pod`, which this plugin rejected, schedulable; if
 * so, the queue retries it. An exception counts as true.
 */
export type QueueingHint = (pod: Pod, event: ClusterEvent) => boolean;

/**
 * Events that a plugin subscribes to. A change to a waiting pod or gang itself needs no registration: the queue retries an entity whose
 * requirements change.
 */
export interface EventRegistration {
  readonly resource: ClusterResource;
  readonly actions: readonly ClusterEvent['action'][];
  /** Absent: every such event requeues. */
  readonly hint?: QueueingHint;
  /** True: the hint also runs for gangs that other plugins rejected. */
  readonly concernsGangs?: boolean;
}
