import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import { EventHints } from '../../framework/event-hints.ts';
import type { SchedulingEntity, QueueKey } from '../../framework/scheduling-entity.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Profile } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import type { QueuedEntity } from '../queued-entity.ts';
import { SchedulingQueue } from '../scheduling-queue.ts';
import type { Failure } from '../failure.ts';
import type { SchedulingQueueOptions } from '../scheduling-queue.ts';

/** Registers every added node. */
const nodeWatcher: Plugin = {
  name: 'NodeWatcher',
  eventsToRegister: () => [{ resource: 'Node', actions: ['Add'] }],
};

/** Registers deleted pods in the namespace of the rejected pod. */
const neighbor: Plugin = {
  name: 'Neighbor',
  eventsToRegister: () => [
    {
      resource: 'AssignedPod',
      actions: ['Delete'],
      hint: (pod, event) => event.resource === 'AssignedPod' && event.pod.namespace === pod.namespace,
    },
  ],
};

/** Has PreEnqueue, and registers added nodes, which may change its result. */
const gate: Plugin = {
  name: 'Gate',
  preEnqueue: () => undefined,
  eventsToRegister: () => [{ resource: 'Node', actions: ['Add'] }],
};

/** The default order: priority, then time, then uid. */
export function byPriority(a: QueueKey, b: QueueKey): number {
  return b.priority - a.priority || a.readySince - b.readySince || (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0);
}

/** A queue of single pods with a virtual clock. */
export class QueueFixture {
  readonly build = new Builders();
  readonly clock = new VirtualClock();
  readonly queue: SchedulingQueue;
  /** uid -> PreEnqueue's rejection of the pod */
  readonly gates = new Map<string, Status>();
  /** uids of pods that stand for a partially bound gang */
  readonly incomplete = new Set<string>();
  /** The observer's moves, in order. */
  readonly moves: string[] = [];
  readonly gated: string[] = [];
  ready = 0;

  constructor(options: Pick<SchedulingQueueOptions, 'backoff' | 'maxUnschedulableMs'> = {}) {
    const plugins: Plugin[] = [
      { name: 'Order', compare: byPriority },
      nodeWatcher,
      neighbor,
      gate,
      { name: 'Binder', bind: () => Promise.resolve(undefined) },
    ];
    const hints = new EventHints(
      new Profile({
        schedulerName: 'default-scheduler',
        enabled: plugins,
        registry: new Map(plugins.map((plugin) => [plugin.name, () => plugin])),
        handle: pluginHandle(this.build, { clock: this.clock }),
      }),
    );
    this.queue = new SchedulingQueue({
      clock: this.clock,
      policy: {
        compare: byPriority,
        preEnqueue: (schedulingEntity) =>
          schedulingEntity.kind === 'pod' ? this.gates.get(schedulingEntity.pod.uid) : undefined,
        hints: () => hints,
        ignores: (event) => hints.ignores(event),
        sortKey: (schedulingEntity, readySince) => {
          if (schedulingEntity.kind !== 'pod') throw new Error('this queue holds single pods');
          const { priority, uid } = schedulingEntity.pod;
          return { priority, readySince, uid, incomplete: this.incomplete.has(uid) };
        },
      },
      observer: {
        removed: () => undefined,
        ready: () => this.ready++,
        gated: (entity) => this.gated.push(entity.key),
        moved: (to, event) => this.moves.push(`${event} -> ${to}`),
      },
      ...options,
    });
  }

  schedulingEntity(
    name: string,
    options: { readonly priority?: number; readonly namespace?: string } = {},
  ): SchedulingEntity {
    return { kind: 'pod', pod: this.build.projectedPod({ ...options, name, uid: name }) };
  }

  add(name: string, options: { readonly priority?: number; readonly namespace?: string } = {}): void {
    this.queue.upsert(this.schedulingEntity(name, options), 'PodAdd');
  }

  /** Pops the next pod and returns its name; undefined if there is none. */
  pop(): string | undefined {
    return nameOf(this.queue.pop());
  }

  /** Pops the pod and fails its attempt. */
  fail(name: string, ...unschedulablePlugins: string[]): void {
    this.#end(name, (entity) => this.failure(entity, unschedulablePlugins, false));
  }

  /** Pops the pod and fails its attempt: each of these plugins returned Pending. */
  failPending(name: string, ...unschedulablePlugins: string[]): void {
    this.#end(name, (entity) => this.failure(entity, unschedulablePlugins, false, unschedulablePlugins));
  }

  failWithError(name: string): void {
    this.#end(name, (entity) => this.failure(entity, [], true));
  }

  failure(
    entity: QueuedEntity,
    unschedulablePlugins: readonly string[],
    error: boolean,
    pending: readonly string[] = [],
  ): Failure {
    if (entity.schedulingEntity.kind !== 'pod') throw new Error('this queue holds single pods');
    return {
      unschedulablePlugins: new Set(unschedulablePlugins),
      pending: new Set(pending),
      rejectedPods: [entity.schedulingEntity.pod],
      error,
    };
  }

  stateOf(name: string): string | undefined {
    return this.queue.get(`pod/${name}`)?.state.kind;
  }

  nodeAdded(): ClusterEvent {
    return { resource: 'Node', action: 'Add', old: undefined, new: this.build.projectedNode() };
  }

  podDeleted(namespace = 'default'): ClusterEvent {
    return { resource: 'AssignedPod', action: 'Delete', pod: this.build.projectedPod({ namespace, nodeName: 'a' }) };
  }

  #end(name: string, failure: (entity: QueuedEntity) => Failure): void {
    const entity = this.queue.pop();
    if (entity === undefined || nameOf(entity) !== name) throw new Error(`next is ${nameOf(entity)}, not ${name}`);
    this.queue.failed(entity, failure(entity));
  }
}

export function nameOf(entity: QueuedEntity | undefined): string | undefined {
  return entity?.schedulingEntity.kind === 'pod' ? entity.schedulingEntity.pod.name : undefined;
}
