import type { TimelineEntity } from '../../api/timeline/timeline-entity.ts';
import type { EventId } from '../../api/timeline/event-id.ts';
import type { TimelineDelta, TimelineSnapshot } from '../../api/timeline/timeline-message.ts';
import type { TimelineNode } from '../../api/timeline/timeline-node.ts';
import type { Transition } from '../../api/timeline/transition.ts';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { EntityKey } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { Profiles } from '../profiles.ts';
import { EntityRows } from './entity-rows.ts';
import { nodeRow } from './node-row.ts';
import { ShortReasons } from './short-reasons.ts';
import type { Timeline } from './timeline.ts';

export interface TimelineFeedOptions {
  readonly timeline: Timeline;
  readonly cluster: Cluster;
  readonly queue: Pick<SchedulingQueue, 'get'>;
  readonly profiles: Pick<Profiles, 'isOurs'>;
  readonly verdictOf: (uid: string) => Verdict | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * A snapshot to be read row by row. The lists are read from the live cluster cache, so entities and nodes may be newer than the sequence number
 * says; the deltas that follow it have them again.
 */
export interface SnapshotRows extends Omit<TimelineSnapshot, 'kind' | 'entities' | 'nodes' | 'transitions'> {
  readonly entities: Iterable<TimelineEntity>;
  readonly nodes: Iterable<TimelineNode>;
  readonly transitions: Iterable<Transition>;
}

/** Epoch of a process that does not lead. */
const standbyEpoch = 'standby';

/**
 * Makes the messages of the timeline for clients. Without clients, it costs nothing. Between `start` and `stop`, each call of
 * `delta` returns what has changed since the call before.
 */
export class TimelineFeed {
  readonly #options: TimelineFeedOptions;
  readonly #rows: EntityRows;
  /** Positions of the entries that came or grew since the last message. */
  readonly #changed = new Set<number>();
  /** name -> generation of the node in the last message */
  #nodes = new Map<string, number>();
  #epoch = '';
  #sequence = 0;
  #stopFollowing: (() => void) | undefined;

  constructor(options: TimelineFeedOptions) {
    this.#options = options;
    const { cluster, queue, verdictOf, timeline } = options;
    const keyOf = (pod: Pod): EntityKey | undefined => timeline.keyOf(pod);
    this.#rows = new EntityRows({ cluster, queue, keyOf, verdictOf, reasons: new ShortReasons() });
  }

  /** Epoch of the process now. The messages before are of another one if it has begun to lead since. */
  get epoch(): string {
    const { epoch } = this.#options.timeline;
    return epoch === '' ? standbyEpoch : epoch;
  }

  /** Starts to collect changes. Deltas continue from here. Does nothing if it has started. */
  start(): void {
    if (this.#stopFollowing !== undefined) return;
    this.#stopFollowing = this.#options.timeline.follow((position) => this.#changed.add(position));
    this.#begin();
  }

  stop(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#changed.clear();
    this.#nodes = new Map();
  }

  /** Up to where the last delta, or `start`, goes. */
  get last(): EventId {
    return { epoch: this.#epoch, sequence: this.#sequence };
  }

  /** Returns whether a client that has received the timeline up to there can continue: it is of this epoch, and what came since is held. */
  holds({ epoch, sequence }: EventId): boolean {
    return epoch === this.epoch && this.#options.timeline.ring.holdsAfter(sequence);
  }

  /** `after`: the client `holds` what came before. Read it before the next delta is made. */
  snapshot(after?: number): SnapshotRows {
    const { timeline, clock } = this.#options;
    const { ring } = timeline;
    const positions = [...ring.positionsAfter(after ?? 0)];
    return {
      epoch: this.epoch,
      now: clock.now(),
      isLeading: timeline.epoch !== '',
      sequence: ring.sequence,
      ...(after !== undefined && { after }),
      heldSince: timeline.heldSince,
      capacity: ring.maxEntries,
      transitions: transitionsAt(timeline, positions),
      entities: this.#entities(),
      nodes: this.#nodeRows(),
    };
  }

  /** Returns undefined if nothing has changed since the last message. The process is in the same epoch as then. */
  delta(): TimelineDelta | undefined {
    const { timeline, cluster, clock } = this.#options;
    const { ring } = timeline;
    const positions = [...this.#changed].filter((position) => ring.has(position)).sort((a, b) => a - b);
    this.#changed.clear();
    const { nodes, removedNodes } = this.#nodeChanges(cluster);
    const from = this.#sequence;
    if (ring.sequence === from && nodes.length + removedNodes.length === 0) return undefined;
    this.#sequence = ring.sequence;
    // Of each entity the latest, which alone has the names of a pod that has gone.
    const changed = new Map(positions.map((position) => [ring.entityKeyAt(position), ring.entityAt(position)]));
    return {
      kind: 'delta',
      epoch: this.#epoch,
      now: clock.now(),
      from,
      sequence: ring.sequence,
      entities: [...changed.values()].map((entity) => this.#rows.of(entity)),
      nodes,
      removedNodes,
      transitions: positions.map((position) => ring.at(position)),
    };
  }

  /** Another epoch has begun. Deltas continue from here. */
  restart(): void {
    this.#begin();
  }

  #begin(): void {
    this.#epoch = this.epoch;
    this.#sequence = this.#options.timeline.ring.sequence;
    this.#changed.clear();
    this.#nodes = new Map(this.#options.cluster.nodes.map(({ name, generation }) => [name, generation]));
  }

  #nodeChanges(cluster: Cluster): Pick<TimelineDelta, 'nodes' | 'removedNodes'> {
    const nodes: TimelineNode[] = [];
    const known = this.#nodes;
    for (const info of cluster.nodes) {
      if (known.get(info.name) === info.generation) continue;
      known.set(info.name, info.generation);
      nodes.push(this.#nodeRow(info));
    }
    if (known.size === cluster.nodes.length) return { nodes, removedNodes: [] };
    const removedNodes = [...known.keys()].filter((name) => cluster.node(name) === undefined);
    for (const name of removedNodes) known.delete(name);
    return { nodes, removedNodes };
  }

  #nodeRow(info: Cluster['nodes'][number]): TimelineNode {
    const { cluster, timeline } = this.#options;
    return nodeRow(info, cluster.resources, (pod) => timeline.keyOf(pod));
  }

  *#nodeRows(): Iterable<TimelineNode> {
    const { cluster } = this.#options;
    for (const { name } of [...cluster.nodes]) {
      const info = cluster.node(name);
      if (info === undefined) continue;
      // A read while an attempt is paused must not see its plan.
      cluster.hidePlan();
      yield this.#nodeRow(info);
    }
  }

  *#entities(): Iterable<TimelineEntity> {
    const { cluster, timeline } = this.#options;
    for (const { key } of [...cluster.gangs()]) {
      const gang = cluster.gang(key);
      if (gang !== undefined) yield this.#rows.ofGroup(gang);
    }
    for (const { uid } of cluster.pods()) {
      const pod = cluster.pod(uid);
      if (pod !== undefined && timeline.keyOf(pod) === `pod/${uid}`) yield this.#rows.ofPod(pod);
    }
    yield* this.#goneEntities();
  }

  *#goneEntities(): Iterable<TimelineEntity> {
    const { ring } = this.#options.timeline;
    const seen = new Set<string>();
    for (const position of ring.positionsAfter(0)) {
      const entity = ring.entityAt(position);
      // Of a pod, only the last entry has the names, and the others have gone before it.
      if (entity.isPod && entity.names === undefined) continue;
      const key = ring.entityKeyAt(position);
      if (seen.has(key) || this.#rows.isPresent(entity)) continue;
      seen.add(key);
      yield this.#rows.of(entity);
    }
  }
}

function* transitionsAt({ ring }: Timeline, positions: readonly number[]): Iterable<Transition> {
  for (const position of positions) if (ring.has(position)) yield ring.at(position);
}
