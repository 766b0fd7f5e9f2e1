import type { WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { onlyGatesAreShut } from '../../cluster/gang-view.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { sharedLook } from '../../observability/shared-look.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import { groupWaits } from './gang-metrics.ts';
import type { GroupWaitsFor } from './gang-metrics.ts';

type Store = 'active' | 'backoff' | 'unschedulable' | 'gated';

/** Groups that wait for the same thing. */
interface Waiting {
  groups: number;
  oldestSeconds: number;
}

/** A plan that is being bound. */
interface CountedPlan {
  readonly entity: QueuedEntity;
  readonly gang: GangView | undefined;
}

interface CountedProfiles {
  readonly all: Iterable<{ readonly schedulerName: string; readonly plugins: readonly Plugin[] }>;
  of(schedulingEntity: SchedulingEntity): { readonly schedulerName: string };
  decidesGangs(schedulerName: string): boolean;
}

/** The waiting entities at one moment. */
export interface QueueCounts {
  /** queue -> pods, including members of waiting groups */
  readonly pending: Readonly<Record<Store, number>>;
  readonly waiting: Readonly<Record<GroupWaitsFor, Readonly<Waiting>>>;
  readonly unschedulable: readonly { readonly plugin: string; readonly profile: string; readonly pods: number }[];
}

export interface QueueMetricsSnapshotOptions {
  readonly cluster: Pick<Cluster, 'hidePlan' | 'gang'>;
  readonly queue: Pick<SchedulingQueue, 'entities'>;
  readonly profiles: CountedProfiles;
  readonly clock: Pick<Clock, 'now'>;
  /** Plans that wait on Permit. Their entities have left the queue. */
  readonly onPermit: () => ReadonlySet<CountedPlan>;
  /** Plans that are about to start their group. Their entities are not in the queue. */
  readonly starting: () => Iterable<CountedPlan>;
  /** If false, all counts are 0, because this process does not schedule. */
  readonly isRunning: () => boolean;
}

/** Counts the waiting entities and what they wait for, in one pass over the queue, and only when metrics are collected. */
export class QueueMetricsSnapshot {
  readonly #options: QueueMetricsSnapshotOptions;
  /** entity -> waitsFor of its last verdict */
  readonly #rejected = new WeakMap<QueuedEntity, WaitsFor>();

  constructor(options: QueueMetricsSnapshotOptions) {
    this.#options = options;
  }

  /** The entity's attempt was rejected. */
  rejected(entity: QueuedEntity, waitsFor: WaitsFor): void {
    this.#rejected.set(entity, waitsFor);
  }

  /** Returns the counts. All metrics of one collection share them. */
  readonly take = sharedLook((): QueueCounts => this.#take());

  #take(): QueueCounts {
    this.#options.cluster.hidePlan();
    const pending = { active: 0, backoff: 0, unschedulable: 0, gated: 0 };
    const waiting = Object.fromEntries(groupWaits.map((word) => [word, { groups: 0, oldestSeconds: 0 }]));
    const rejections = new Rejections(this.#options.profiles);
    const now = this.#options.clock.now();
    const count = (word: GroupWaitsFor, { readySince, since }: QueuedEntity): void => {
      const group = waiting[word]!;
      group.groups++;
      group.oldestSeconds = Math.max(group.oldestSeconds, (now - (readySince ?? since)) / 1000);
    };
    if (this.#options.isRunning()) {
      for (const entity of this.#options.queue.entities()) {
        const { schedulingEntity, state } = entity;
        const pods = schedulingEntity.kind === 'pod' ? 1 : this.#waitingMembers(schedulingEntity.gang);
        if (schedulingEntity.kind === 'gang') count(this.#waitOf(entity, schedulingEntity.gang), entity);
        if (state.kind === 'inFlight' || state.kind === 'setAside') continue;
        pending[state.kind] += pods;
        if (state.kind === 'active') continue;
        const plugins = state.kind === 'gated' ? [state.status.plugin] : entity.rejection.unschedulablePlugins;
        rejections.add(this.#options.profiles.of(schedulingEntity).schedulerName, plugins, pods);
      }
      const onPermit = this.#options.onPermit();
      for (const { entity } of onPermit) if (entity.schedulingEntity.kind === 'gang') count('permit', entity);
      for (const plan of this.#options.starting()) {
        if (!onPermit.has(plan) && needsOthers(this.#options.cluster.gang(plan.gang!.key))) count('turn', plan.entity);
      }
    }
    return { pending, waiting: waiting as QueueCounts['waiting'], unschedulable: [...rejections.all()] };
  }

  #waitOf(entity: QueuedEntity, gang: GangView): GroupWaitsFor {
    switch (entity.state.kind) {
      case 'gated':
        return onlyGatesAreShut(gang) ? 'gates' : 'members';
      case 'active':
      case 'inFlight':
      case 'setAside':
        return 'turn';
      case 'backoff':
        return 'backoff';
      case 'unschedulable':
        return this.#rejected.get(entity) ?? 'unknown';
    }
  }

  /** Counts members that wait with their gang. Members whose profile ignores groups wait on their own. */
  #waitingMembers(gang: GangView): number {
    let waiting = 0;
    for (const [name, count] of gang.pendingBySchedulerName)
      if (this.#options.profiles.decidesGangs(name)) waiting += count;
    if (gang.count('gated') === 0) return waiting;
    for (const pod of gang.members.values()) {
      if (gang.stateOf(pod.uid) === 'gated' && this.#options.profiles.decidesGangs(pod.schedulerName)) waiting++;
    }
    return waiting;
  }
}

/** Returns whether the group needs unplanned members: earlier planned members have failed, so those of the plan are too few. */
function needsOthers(gang: GangView | undefined): boolean {
  if (gang === undefined || gang.count('pending') + gang.count('gated') === 0) return false;
  return gang.spec === undefined || gang.missing > 0;
}

/** Pods by the plugin that rejected them. */
class Rejections {
  /** profile -> plugin -> pods */
  readonly #pods = new Map<string, Map<string, number>>();

  /** Names of the plugins whose events may help a pod that other plugins rejected. */
  readonly #preempting = new Set<string>();

  /** Starts with 0 for every plugin, so that a series does not end when no pod waits any more. */
  constructor({ all }: CountedProfiles) {
    for (const { schedulerName, plugins } of all) {
      const byPlugin = new Map<string, number>();
      for (const plugin of plugins) {
        if (plugin.postFilter !== undefined && plugin.filter === undefined) this.#preempting.add(plugin.name);
        else byPlugin.set(plugin.name, 0);
      }
      this.#pods.set(schedulerName, byPlugin);
    }
  }

  add(profile: string, plugins: Iterable<string>, pods: number): void {
    const byPlugin = this.#pods.get(profile)!;
    for (const plugin of plugins) {
      if (plugin !== '' && !this.#preempting.has(plugin)) byPlugin.set(plugin, (byPlugin.get(plugin) ?? 0) + pods);
    }
  }

  *all(): Iterable<{ plugin: string; profile: string; pods: number }> {
    for (const [profile, byPlugin] of this.#pods) {
      for (const [plugin, pods] of byPlugin) yield { plugin, profile, pods };
    }
  }
}
