import type { ListedObject } from '../../api/listed-object.ts';
import { sameImages } from '../../api/node-images.ts';
import { nodesScheduleAlike } from '../../api/node.ts';
import type { Node } from '../../api/node.ts';
import { isTerminal, isUnbound, podsScheduleAlike } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { sameResources } from '../../api/resource-list.ts';
import { sameLabels } from '../../api/same-labels.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangSpec, GangView } from '../../cluster/gang.ts';
import { capacityFreed } from '../../framework/cluster-event.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import type { InformerHandler } from '../../informer/informer-handler.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { EntityRouter } from './entity-router.ts';

export interface WatchHandlersOptions {
  readonly cluster: Cluster;
  readonly queue: Pick<SchedulingQueue, 'moveOnEvent'>;
  readonly router: EntityRouter;
  readonly clock: Clock;
  /** Once the picture is complete. Until then only the picture is written, and the queue is filled from it in one go. */
  readonly hasSynced: () => boolean;
  /** Somebody reads more of a waiting pod than its projection has. */
  readonly readsAll: boolean;
  /** Whether those who judge it can not tell the two states of one pod apart. */
  readonly looksAlike: (before: Pod, now: Pod) => boolean;
  /** A pod as the API now shows it, after cluster and queue know; undefined: it is gone. */
  readonly podSeen: (uid: string, pod: Pod | undefined) => void;
  /** A group, or a member of it, has changed; after cluster and queue know. */
  readonly groupSeen: (key: string) => void;
  /** A pod has left its node, for whatever reason; after the picture knows, before anybody is told of the room. */
  readonly podLeft: (pod: Pod, nodeName: string) => void;
  /** A pod has left its node without having succeeded; after `podLeft`, and when the routing knows as well. */
  readonly podLost: (pod: Pod, nodeName: string) => void;
  /** A pod that waited has a node that nobody here has chosen for it. */
  readonly boundElsewhere: (pod: Pod) => void;
  /** A node has changed in what scheduling reads of it, or has gone; after the picture knows. */
  readonly nodeChanged: (name: string) => void;
}

/** What a waiting gang asks for, as far as its members and its spec say. */
interface GangNeeds {
  readonly spec: GangSpec | undefined;
  readonly missing: number;
  readonly pending: number;
  readonly started: boolean;
}

/**
 * The only subscriber to the informers. For each watch change it updates the cluster picture, then the queue, in one
 * synchronous call. What changes nothing that scheduling reads (a heartbeat, our own verdicts and statuses) stops at the picture.
 */
export class WatchHandlers {
  readonly #cluster: Cluster;
  readonly #router: EntityRouter;
  readonly #options: WatchHandlersOptions;
  #latest = 0;

  constructor(options: WatchHandlersOptions) {
    this.#options = options;
    this.#cluster = options.cluster;
    this.#router = options.router;
  }

  readonly nodes: InformerHandler<Node> = {
    onAdd: (node) => {
      this.#lookAtGroups(this.#cluster.setNode(node), 'NodeAdd');
      this.#notify({ resource: 'Node', action: 'Add', old: undefined, new: node });
    },
    onUpdate: (old, node) => {
      if (nodesScheduleAlike(old, node)) {
        // They make no pod fit that did not, and strand nobody.
        if (!sameImages(old.images, node.images)) this.#cluster.setNode(node);
        return;
      }
      this.#lookAtGroups(this.#cluster.setNode(node), 'NodeUpdate');
      if (this.#options.hasSynced()) this.#options.nodeChanged(node.name);
      this.#notify({ resource: 'Node', action: 'Update', old, new: node });
    },
    onDelete: (node) => {
      this.#lookAtGroups(this.#cluster.removeNode(node.name), 'NodeDelete');
      if (this.#options.hasSynced()) this.#options.nodeChanged(node.name);
      this.#notify({ resource: 'Node', action: 'Delete', old: node });
    },
  };

  readonly pods: InformerHandler<Pod> = {
    onAdd: (pod) => this.#setPod(undefined, pod),
    onUpdate: (old, pod) => this.#setPod(old, pod),
    onDelete: (last) => {
      // It may have changed its group in its last change.
      const pod = this.#cluster.pod(last.uid) ?? last;
      const held = this.#cluster.nodeOf(pod);
      const reservation = this.#cluster.reservationOf(pod.uid);
      this.#cluster.removePod(pod.uid);
      if (!this.#options.hasSynced()) return;
      this.#router.podChanged(pod, 'PodDelete', this.#instant(), true);
      if (held === undefined) {
        this.#notify({ resource: 'UnscheduledPod', action: 'Delete', pod });
      } else {
        this.#options.podLeft(pod, held.name);
        if (pod.nodeName !== '') this.#options.podLost(pod, held.name);
        this.#notify(capacityFreed(pod, held.name));
      }
      if (reservation !== undefined) this.#notify(capacityFreed(reservation.owner, reservation.nodeName));
      this.#options.podSeen(pod.uid, undefined);
      if (pod.podGroupKey !== undefined) this.#options.groupSeen(pod.podGroupKey);
    },
  };

  /** Of every kind that some plugin reads besides. */
  readonly listed: InformerHandler<ListedObject> = {
    onAdd: (object) => {
      this.#cluster.listed.set(object);
      this.#notify({ resource: object.kind, action: 'Add', object, old: undefined });
    },
    onUpdate: (old, object) => {
      this.#cluster.listed.set(object);
      this.#notify({ resource: object.kind, action: 'Update', object, old });
    },
    onDelete: (object) => {
      this.#cluster.listed.remove(object);
      this.#notify({ resource: object.kind, action: 'Delete', object, old: undefined });
    },
  };

  readonly podGroups: InformerHandler<GangSpec> = {
    onAdd: (spec) => this.#setGroup(spec, 'Add'),
    onUpdate: (_old, spec) => this.#setGroup(spec, 'Update'),
    onDelete: (spec) => {
      const gang = this.#cluster.gang(spec.key);
      this.#cluster.removeGang(spec.key);
      if (!this.#options.hasSynced()) return;
      this.#router.groupChanged(spec.key, 'PodGroupDelete', this.#instant(), true);
      if (gang !== undefined) this.#notify({ resource: 'PodGroup', action: 'Delete', gang });
      this.#options.groupSeen(spec.key);
    },
  };

  #setPod(old: Pod | undefined, pod: Pod): void {
    if (old !== undefined && podsScheduleAlike(old, pod) && !this.#mayAskElse(old, pod)) {
      this.#cluster.setPod(pod);
      if (this.#options.hasSynced()) this.#options.podSeen(pod.uid, pod);
      return;
    }
    const wasOnNode = old !== undefined && old.nodeName !== '' && !isTerminal(old);
    const assumedOn = this.#cluster.isAssumed(pod.uid) ? this.#cluster.nodeOf(pod)?.name : undefined;
    const reservation = this.#cluster.reservationOf(pod.uid);
    const asked = this.#needsOf(pod.podGroupKey);
    const outcome = this.#cluster.setPod(pod);
    if (!this.#options.hasSynced()) return;
    const now = this.#instant();
    if (old?.podGroupKey !== undefined && old.podGroupKey !== pod.podGroupKey) {
      this.#router.groupChanged(old.podGroupKey, 'PodUpdate', now, true, pod);
    }
    const kept = this.#cluster.reservationOf(pod.uid);
    const isNominatedElse =
      isUnbound(pod) &&
      kept?.nodeName !== reservation?.nodeName &&
      reservation?.isKept !== true &&
      kept?.isKept !== true;
    const asksElse =
      isNominatedElse ||
      old === undefined ||
      old.podGroupKey !== pod.podGroupKey ||
      !sameNeeds(asked, this.#needsOf(pod.podGroupKey)) ||
      !this.#options.looksAlike(old, pod);
    this.#router.podChanged(pod, old === undefined ? 'PodAdd' : 'PodUpdate', now, asksElse);
    // Room that is kept for one of a group bars others, but none of its siblings.
    if (isNominatedElse && pod.podGroupKey !== undefined) {
      this.#router.groupChanged(pod.podGroupKey, 'PodUpdate', now, true);
    }
    if (wasOnNode && isTerminal(pod)) this.#options.podLeft(pod, old.nodeName);
    if (wasOnNode && pod.phase === 'Failed') this.#options.podLost(pod, old.nodeName);
    this.#notifyOfPod(old, pod, wasOnNode, outcome === 'contradicted' ? assumedOn : undefined);
    if (old !== undefined && (outcome === 'kept' || outcome === 'confirmed'))
      this.#notifyOfAssumed(old, pod, assumedOn!);
    const isOnNode = pod.nodeName !== '' && !isTerminal(pod);
    const isKept =
      (kept?.nodeName === reservation?.nodeName && standsAlike(kept?.owner, reservation?.owner)) ||
      (isOnNode && pod.nodeName === reservation?.nodeName && standsAlike(pod, reservation.owner));
    if (reservation !== undefined && !isKept) this.#notify(capacityFreed(reservation.owner, reservation.nodeName));
    const wasWaiting = old !== undefined && isUnbound(old);
    if (wasWaiting && isOnNode && assumedOn !== pod.nodeName) this.#options.boundElsewhere(pod);
    this.#options.podSeen(pod.uid, pod);
    if (old?.podGroupKey !== undefined && old.podGroupKey !== pod.podGroupKey) this.#options.groupSeen(old.podGroupKey);
    if (pod.podGroupKey !== undefined) this.#options.groupSeen(pod.podGroupKey);
  }

  /** `givenUp`: the node that it had been assumed on, where that turned out to be wrong. What leaves a node is the pod as it was there. */
  #notifyOfPod(old: Pod | undefined, pod: Pod, wasOnNode: boolean, givenUp: string | undefined): void {
    if (givenUp !== undefined) this.#notify(capacityFreed(old ?? pod, givenUp));
    if (pod.nodeName !== '' && !isTerminal(pod)) {
      if (wasOnNode) this.#notify({ resource: 'AssignedPod', action: 'Update', pod, old: old! });
      else this.#notify({ resource: 'AssignedPod', action: 'Add', pod });
    } else if (wasOnNode) {
      this.#notify(capacityFreed(old!, old!.nodeName));
    } else if (!isTerminal(pod)) {
      if (old === undefined) this.#notify({ resource: 'UnscheduledPod', action: 'Add', pod });
      else this.#notify({ resource: 'UnscheduledPod', action: 'Update', pod, old });
    }
  }

  /** It has changed while it was assumed: what it asks for may be less now, and what others want or do not want beside them something else. */
  #notifyOfAssumed(old: Pod, pod: Pod, nodeName: string): void {
    if (standsAlike(old, pod)) return;
    this.#notify({ resource: 'AssignedPod', action: 'Update', pod: { ...pod, nodeName }, old: { ...old, nodeName } });
  }

  /** Something has changed that its projection does not have, and that is not our verdict. */
  #mayAskElse(old: Pod, pod: Pod): boolean {
    if (!this.#options.readsAll || old.resourceVersion === pod.resourceVersion) return false;
    const [before, now] = [old.podScheduled, pod.podScheduled];
    return isUnbound(pod) && before?.reason === now?.reason && before?.message === now?.message;
  }

  #setGroup(spec: GangSpec, action: 'Add' | 'Update'): void {
    const asked = this.#needsOf(spec.key);
    this.#cluster.setGang(spec);
    const gang: GangView = this.#cluster.gang(spec.key)!;
    // What the controller writes into the status comes this way.
    if (!this.#options.hasSynced()) return;
    if (sameNeeds(asked, this.#needsOf(spec.key))) {
      this.#options.groupSeen(spec.key);
      return;
    }
    this.#router.groupChanged(spec.key, `PodGroup${action}`, this.#instant(), true);
    this.#notify({ resource: 'PodGroup', action, gang });
    this.#options.groupSeen(spec.key);
  }

  /** Members of these groups are stranded, or not any more. */
  #lookAtGroups(keys: readonly string[], event: string): void {
    if (!this.#options.hasSynced()) return;
    for (const key of keys) {
      this.#router.groupChanged(key, event, this.#instant(), true);
      this.#options.groupSeen(key);
    }
  }

  #needsOf(key: string | undefined): GangNeeds | undefined {
    const gang = key === undefined ? undefined : this.#cluster.gang(key);
    return gang && { spec: gang.spec, missing: gang.missing, pending: gang.pending.size, started: gang.started };
  }

  /** The time, later with every change, so that entities made ready in one millisecond keep the order of their changes. */
  #instant(): number {
    this.#latest = Math.max(this.#options.clock.now(), this.#latest + 0.001);
    return this.#latest;
  }

  #notify(event: ClusterEvent): void {
    if (this.#options.hasSynced()) this.#options.queue.moveOnEvent(event);
  }
}

/** The two states of a pod are one to all who look at it where it is. */
function standsAlike(a: Pod | undefined, b: Pod | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.template === b.template && a.deleting === b.deleting && sameLabels(a.labels, b.labels);
}

function sameNeeds(a: GangNeeds | undefined, b: GangNeeds | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.missing === b.missing && a.pending === b.pending && a.started === b.started && sameDemand(a.spec, b.spec);
}

function sameDemand(a: GangSpec | undefined, b: GangSpec | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.uid === b.uid &&
    a.minMember === b.minMember &&
    a.scheduleTimeoutSeconds === b.scheduleTimeoutSeconds &&
    sameResources(a.minResources, b.minResources)
  );
}
