import type { Job } from '../../api/job.ts';
import type { ListedObject } from '../../api/listed-object.ts';
import { sameImages } from '../../api/node-images.ts';
import { nodesEqualForScheduling } from '../../api/node.ts';
import type { Node } from '../../api/node.ts';
import { isTerminal, isUnbound, podsEqualForScheduling } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { sameStart } from '../../api/predicted-start.ts';
import { sameResources } from '../../api/resource-list.ts';
import { sameLabels } from '../../api/same-labels.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { GangView } from '../../cluster/gang-view.ts';
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
  /** Returns true once the cache has synced. Until then only the cache is updated; the queue is then filled from it in one pass. */
  readonly hasSynced: () => boolean;
  /** An extender reads more of a pending pod than its projection contains. */
  readonly readsAll: boolean;
  /** Returns whether all plugins treat the two versions of a pod alike. */
  readonly looksAlike: (before: Pod, now: Pod) => boolean;
  /** Returns the uids of unbound pods of the Job with this uid, if their declared end matters. */
  readonly podsOfJob: (uid: string) => Iterable<string>;
  /**
   * A pod was created (`before` is undefined), has changed in a way that scheduling reads, or was deleted (`now` is undefined), at `time`
   * (milliseconds since the epoch). Called when the cache and the pod's entity in the queue are up to date, before any other part acts on the change.
   */
  readonly podChanged: (before: Pod | undefined, now: Pod | undefined, time: number) => void;
  /** A pod as the API now shows it; undefined: it was deleted. Called after the cache and the queue are up to date. */
  readonly podSeen: (uid: string, pod: Pod | undefined) => void;
  /** A group or one of its members has changed. Called after the cache and the queue are up to date. */
  readonly groupSeen: (key: string) => void;
  /** A pod has left its node for any reason. Called after the cache is up to date, before the queue wakes entities for the capacity. */
  readonly podLeft: (pod: Pod, nodeName: string) => void;
  /** A pod has left its node without having succeeded. Called after `podLeft`, when the router is up to date as well. */
  readonly podLost: (pod: Pod, nodeName: string) => void;
  /** A pending pod was bound to a node that this process did not choose. */
  readonly boundElsewhere: (pod: Pod) => void;
  /** A node was deleted, or what scheduling reads of it has changed. Called after the cache is up to date. */
  readonly nodeChanged: (name: string) => void;
}

/** The demand of a pending gang, from its members and its spec. */
interface GangNeeds {
  readonly spec: GangSpec | undefined;
  readonly missing: number;
  readonly pending: number;
  readonly started: boolean;
  readonly isHeldBack: boolean;
}

/**
 * The only subscriber to the informers. For each watch change it updates the cluster cache and then the queue, in one synchronous call.
 * Changes that scheduling does not read (heartbeats, the scheduler's own verdicts and statuses) only reach the cache.
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
      this.#groupsStranded(this.#cluster.setNode(node), 'NodeAdd');
      this.#notify({ resource: 'Node', action: 'Add', old: undefined, new: node });
    },
    onUpdate: (old, node) => {
      if (nodesEqualForScheduling(old, node)) {
        // Images make no pod fit and strand no member.
        if (!sameImages(old.images, node.images)) this.#cluster.setNode(node);
        return;
      }
      this.#groupsStranded(this.#cluster.setNode(node), 'NodeUpdate');
      if (this.#options.hasSynced()) this.#options.nodeChanged(node.name);
      this.#notify({ resource: 'Node', action: 'Update', old, new: node });
    },
    onDelete: (node) => {
      this.#groupsStranded(this.#cluster.removeNode(node.name), 'NodeDelete');
      if (this.#options.hasSynced()) this.#options.nodeChanged(node.name);
      this.#notify({ resource: 'Node', action: 'Delete', old: node });
    },
  };

  readonly pods: InformerHandler<Pod> = {
    onAdd: (pod) => this.#setPod(undefined, pod),
    onUpdate: (old, pod) => this.#setPod(old, pod),
    onDelete: (last) => {
      // Its last change may have changed its group.
      const pod = this.#cluster.pod(last.uid) ?? last;
      const boundNode = this.#cluster.nodeOf(pod);
      const reservation = this.#cluster.reservationOf(pod.uid);
      this.#cluster.removePod(pod.uid);
      if (!this.#options.hasSynced()) return;
      const now = this.#instant();
      this.#router.podChanged(pod, 'PodDelete', now, true);
      this.#options.podChanged(pod, undefined, now);
      if (boundNode === undefined) {
        this.#notify({ resource: 'UnscheduledPod', action: 'Delete', pod });
      } else {
        this.#options.podLeft(pod, boundNode.name);
        if (pod.nodeName !== '') this.#options.podLost(pod, boundNode.name);
        this.#notify(capacityFreed(pod, boundNode.name));
      }
      if (reservation !== undefined) this.#notify(capacityFreed(reservation.owner, reservation.nodeName));
      this.#options.podSeen(pod.uid, undefined);
      if (pod.podGroupKey !== undefined) this.#options.groupSeen(pod.podGroupKey);
    },
    onListing: () => this.#cluster.podsBeingListed(),
    onReplaced: () => this.#rerouteGroups(this.#cluster.podsListed(), 'PodUpdate'),
  };

  /** Handles all kinds that plugins read besides nodes, pods and groups. */
  readonly listed: InformerHandler<ListedObject> = {
    onAdd: (object) => {
      this.#cluster.listed.set(object);
      this.#notify({ resource: object.kind, action: 'Add', object, old: undefined });
      if (object.kind === 'Job' && object.deadlineSeconds > 0) this.#jobEndChanged(object, 'JobAdd');
    },
    onUpdate: (old, object) => {
      this.#cluster.listed.set(object);
      this.#notify({ resource: object.kind, action: 'Update', object, old });
      if (object.kind === 'Job' && !hasSameEnd(old, object)) this.#jobEndChanged(object, 'JobUpdate');
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
      this.#rerouteGroups(this.#cluster.removeGang(spec.key), 'PodGroupDelete');
      if (!this.#options.hasSynced()) return;
      this.#router.groupChanged(spec.key, 'PodGroupDelete', this.#instant(), true);
      if (gang !== undefined) this.#notify({ resource: 'PodGroup', action: 'Delete', gang });
      this.#options.groupSeen(spec.key);
    },
  };

  #setPod(known: Pod | undefined, pod: Pod): void {
    const old = known && this.#withOwnNomination(known, pod);
    if (old !== undefined && podsEqualForScheduling(old, pod) && !this.#mayAskElse(old, pod)) {
      this.#setEqualPod(old, pod);
      return;
    }
    const wasOnNode = old !== undefined && old.nodeName !== '' && !isTerminal(old);
    const assumedOn = this.#cluster.isAssumed(pod.uid) ? this.#cluster.nodeOf(pod)?.name : undefined;
    const reservation = this.#cluster.reservationOf(pod.uid);
    const needsBefore = this.#needsOf(pod.podGroupKey);
    const outcome = this.#cluster.setPod(pod);
    if (!this.#options.hasSynced()) return;
    const now = this.#instant();
    if (old?.podGroupKey !== undefined && old.podGroupKey !== pod.podGroupKey) {
      this.#router.groupChanged(old.podGroupKey, 'PodUpdate', now, true, pod);
    }
    const newReservation = this.#cluster.reservationOf(pod.uid);
    const hasNewNomination =
      isUnbound(pod) &&
      newReservation?.nodeName !== reservation?.nodeName &&
      reservation?.isKept !== true &&
      newReservation?.isKept !== true;
    const asksElse =
      hasNewNomination ||
      old === undefined ||
      old.podGroupKey !== pod.podGroupKey ||
      !sameNeeds(needsBefore, this.#needsOf(pod.podGroupKey)) ||
      !this.#options.looksAlike(old, pod);
    this.#router.podChanged(pod, old === undefined ? 'PodAdd' : 'PodUpdate', now, asksElse);
    this.#options.podChanged(old, pod, now);
    // Capacity that is reserved for a group member is closed to other pods, but open to its siblings.
    if (hasNewNomination && pod.podGroupKey !== undefined) {
      this.#router.groupChanged(pod.podGroupKey, 'PodUpdate', now, true);
    }
    if (wasOnNode && isTerminal(pod)) this.#options.podLeft(pod, old.nodeName);
    if (wasOnNode && pod.phase === 'Failed') this.#options.podLost(pod, old.nodeName);
    this.#notifyOfPod(old, pod, wasOnNode, outcome === 'contradicted' ? assumedOn : undefined);
    if (old !== undefined && (outcome === 'kept' || outcome === 'confirmed'))
      this.#notifyOfAssumed(old, pod, assumedOn!);
    const isOnNode = pod.nodeName !== '' && !isTerminal(pod);
    const isKept =
      (newReservation?.nodeName === reservation?.nodeName && sameToOthers(newReservation?.owner, reservation?.owner)) ||
      (isOnNode && pod.nodeName === reservation?.nodeName && sameToOthers(pod, reservation.owner));
    if (reservation !== undefined && !isKept) this.#notify(capacityFreed(reservation.owner, reservation.nodeName));
    const wasWaiting = old !== undefined && isUnbound(old);
    if (wasWaiting && isOnNode && assumedOn !== pod.nodeName) this.#options.boundElsewhere(pod);
    this.#options.podSeen(pod.uid, pod);
    if (old?.podGroupKey !== undefined && old.podGroupKey !== pod.podGroupKey) this.#options.groupSeen(old.podGroupKey);
    if (pod.podGroupKey !== undefined) this.#options.groupSeen(pod.podGroupKey);
  }

  /** The mark of a preemption is no event, but the pod's group needs more members while it has one. */
  #setEqualPod(old: Pod, pod: Pod): void {
    const { podGroupKey: key } = pod;
    const isMarkChanged = (old.preemptionMark === undefined) !== (pod.preemptionMark === undefined);
    const needsBefore = isMarkChanged ? this.#needsOf(key) : undefined;
    this.#cluster.setPod(pod);
    if (!this.#options.hasSynced()) return;
    const changesNeeds = isMarkChanged && !sameNeeds(needsBefore, this.#needsOf(key));
    if (changesNeeds) this.#router.groupChanged(key!, 'PodUpdate', this.#instant(), true);
    this.#options.podSeen(pod.uid, pod);
    if (changesNeeds) this.#options.groupSeen(key!);
  }

  /**
   * Returns the pod before the change. If the scheduler itself has written or cleared the nomination, the pod already has it, and the version
   * of that write.
   */
  #withOwnNomination(old: Pod, { uid, nominatedNodeName, resourceVersion }: Pod): Pod {
    if (old.nominatedNodeName === nominatedNodeName) return old;
    const { ownNominations } = this.#cluster;
    const isOurs = (nodeName: string): boolean => nodeName === '' || ownNominations.has(uid, nodeName);
    const isOwnWrite = isOurs(old.nominatedNodeName) && isOurs(nominatedNodeName);
    return isOwnWrite ? { ...old, nominatedNodeName, resourceVersion } : old;
  }

  /** `wrongNode`: the node on which the pod had been assumed if it is bound elsewhere. A pod leaves a node with the labels that it had there. */
  #notifyOfPod(old: Pod | undefined, pod: Pod, wasOnNode: boolean, wrongNode: string | undefined): void {
    if (wrongNode !== undefined) this.#notify(capacityFreed(old ?? pod, wrongNode));
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

  /** The pod has changed while it was assumed: its requests and labels may now make other pods fit. */
  #notifyOfAssumed(old: Pod, pod: Pod, nodeName: string): void {
    if (sameToOthers(old, pod)) return;
    this.#notify({ resource: 'AssignedPod', action: 'Update', pod: { ...pod, nodeName }, old: { ...old, nodeName } });
  }

  /** Returns whether fields outside the projection may have changed, other than the scheduler's own verdict. */
  #mayAskElse(old: Pod, pod: Pod): boolean {
    if (!this.#options.readsAll || old.resourceVersion === pod.resourceVersion) return false;
    const [before, now] = [old.podScheduled, pod.podScheduled];
    const isSameVerdict = before?.reason === now?.reason && before?.message === now?.message;
    return isUnbound(pod) && isSameVerdict && sameStart(old.predictedStart, pod.predictedStart);
  }

  /** The pods of the Job are declared to end at another time. */
  #jobEndChanged({ uid }: Job, event: string): void {
    if (!this.#options.hasSynced()) return;
    for (const podUid of [...this.#options.podsOfJob(uid)]) {
      const pod = this.#cluster.openPod(podUid);
      if (pod !== undefined) this.#router.podChanged(pod, event, this.#instant(), true);
    }
  }

  #setGroup(spec: GangSpec, action: 'Add' | 'Update'): void {
    const needsBefore = this.#needsOf(spec.key);
    this.#rerouteGroups(this.#cluster.setGang(spec), `PodGroup${action}`);
    const gang: GangView = this.#cluster.gang(spec.key)!;
    // Status updates by the controller end here.
    if (!this.#options.hasSynced()) return;
    if (sameNeeds(needsBefore, this.#needsOf(spec.key))) {
      this.#options.groupSeen(spec.key);
      return;
    }
    this.#router.groupChanged(spec.key, `PodGroup${action}`, this.#instant(), true);
    this.#notify({ resource: 'PodGroup', action, gang });
    this.#options.groupSeen(spec.key);
  }

  /** Members of these groups are stranded, or no longer are. */
  #groupsStranded(keys: readonly string[], event: string): void {
    if (!this.#options.hasSynced()) return;
    for (const key of keys) {
      this.#router.strandedChanged(key, event, this.#instant());
      this.#options.groupSeen(key);
    }
  }

  /** These groups have started or start over, or the group in spec.schedulingGroup of members has become a gang, or no longer is one. */
  #rerouteGroups(keys: readonly string[], event: string): void {
    if (!this.#options.hasSynced()) return;
    for (const key of keys) {
      this.#router.groupChanged(key, event, this.#instant(), true);
      this.#options.groupSeen(key);
    }
  }

  #needsOf(key: string | undefined): GangNeeds | undefined {
    const gang = key === undefined ? undefined : this.#cluster.gang(key);
    if (gang === undefined) return undefined;
    const { spec, missing, pending, started, isHeldBack } = gang;
    return { spec, missing, pending: pending.size, started, isHeldBack };
  }

  /** Returns the current time, increased with every call, so that entities made ready in one millisecond keep their order. */
  #instant(): number {
    this.#latest = Math.max(this.#options.clock.now(), this.#latest + 0.001);
    return this.#latest;
  }

  #notify(event: ClusterEvent): void {
    if (this.#options.hasSynced()) this.#options.queue.moveOnEvent(event);
  }
}

/** Returns whether both versions of a Job end its pods at the same time. */
function hasSameEnd(a: ListedObject, b: Job): boolean {
  if (a.kind !== 'Job' || a.deadlineSeconds !== b.deadlineSeconds) return false;
  return b.deadlineSeconds === 0 || a.startedAt === b.startedAt;
}

/** Returns whether the two versions of a pod look the same to all other pods. */
function sameToOthers(a: Pod | undefined, b: Pod | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.template === b.template && a.deleting === b.deleting && sameLabels(a.labels, b.labels);
}

function sameNeeds(a: GangNeeds | undefined, b: GangNeeds | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.missing === b.missing &&
    a.pending === b.pending &&
    a.started === b.started &&
    a.isHeldBack === b.isHeldBack &&
    sameDemand(a.spec, b.spec)
  );
}

function sameDemand(a: GangSpec | undefined, b: GangSpec | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.uid === b.uid &&
    a.minMember === b.minMember &&
    a.unsupported === b.unsupported &&
    a.memberPriority === b.memberPriority &&
    a.memberPreemptionPolicy === b.memberPreemptionPolicy &&
    a.scheduleTimeoutSeconds === b.scheduleTimeoutSeconds &&
    sameResources(a.minResources, b.minResources)
  );
}
