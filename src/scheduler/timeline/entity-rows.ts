import { parseGroupKey } from '../../api/group-key.ts';
import type { Pod } from '../../api/pod.ts';
import type { TimelineEntity } from '../../api/timeline/timeline-entity.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import { countsOf, stateOfGroup, stateOfPod } from './entity-states.ts';
import type { ShortReasons } from './short-reasons.ts';
import type { RecordedEntity } from './transition-ring.ts';

export interface EntityRowsOptions {
  readonly cluster: Pick<Cluster, 'gang' | 'pod' | 'isAssumed'>;
  readonly queue: Pick<SchedulingQueue, 'get'>;
  /** Returns the key of the entity that a pod is recorded under; undefined: none. */
  readonly keyOf: (pod: Pod) => EntityKey | undefined;
  readonly verdictOf: (uid: string) => Verdict | undefined;
  readonly reasons: ShortReasons;
}

/** Entities as they are now, for messages. */
export class EntityRows {
  readonly #options: EntityRowsOptions;

  constructor(options: EntityRowsOptions) {
    this.#options = options;
  }

  of(entity: RecordedEntity): TimelineEntity {
    if (!this.isPresent(entity)) return goneRow(entity);
    const { cluster } = this.#options;
    return entity.isPod ? this.ofPod(cluster.pod(entity.id)!) : this.ofGroup(cluster.gang(entity.id)!);
  }

  /** Returns false for what has gone, and for a pod that has become a member of a group. */
  isPresent({ id, isPod }: RecordedEntity): boolean {
    const { cluster, keyOf } = this.#options;
    if (!isPod) return cluster.gang(id) !== undefined;
    const pod = cluster.pod(id);
    return pod !== undefined && keyOf(pod) === `pod/${id}`;
  }

  ofGroup(gang: Gang): TimelineEntity {
    const { key, spec, pending } = gang;
    const { source, namespace, name } = parseGroupKey(key);
    const queueKey = `gang/${key}`;
    const [waiting] = pending.values();
    return {
      key: queueKey,
      subject: { kind: 'PodGroup', source, namespace, name, ...(spec !== undefined && { uid: spec.uid }) },
      state: stateOfGroup(gang, this.#options.queue, queueKey),
      counts: countsOf(gang),
      createdAt: spec?.creationTimestamp ?? 0,
      ...(waiting !== undefined && this.#why(waiting)),
    };
  }

  ofPod(pod: Pod): TimelineEntity {
    const { uid, namespace, name, creationTimestamp } = pod;
    const state = stateOfPod(pod, this.#options.cluster);
    return {
      key: `pod/${uid}`,
      subject: { kind: 'Pod', namespace, name, uid },
      state,
      createdAt: creationTimestamp,
      ...((state === 'Waiting' || state === 'NotReady') && this.#why(pod)),
    };
  }

  #why({ uid }: Pod): Pick<TimelineEntity, 'waitsFor' | 'reason'> {
    const { verdictOf, reasons } = this.#options;
    const verdict = verdictOf(uid);
    return verdict === undefined ? {} : { waitsFor: verdict.waitsFor, reason: reasons.ofVerdict(verdict) };
  }
}

function goneRow({ id, isPod, names }: RecordedEntity): TimelineEntity {
  const state: TimelineState = 'Gone';
  if (!isPod) {
    const { source, namespace, name } = parseGroupKey(id);
    return { key: `gang/${id}`, subject: { kind: 'PodGroup', source, namespace, name }, state, createdAt: 0 };
  }
  const { namespace, name } = names!;
  return { key: `pod/${id}`, subject: { kind: 'Pod', namespace, name, uid: id }, state, createdAt: 0 };
}
