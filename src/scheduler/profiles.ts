import { isDeepStrictEqual } from 'node:util';
import type { ListedKind } from '../api/listed-object.ts';
import type { GangView } from '../cluster/gang-view.ts';
import type { ProfileConfiguration, ReservationsConfiguration } from '../config/scheduler-configuration.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import { EventHints } from '../framework/event-hints.ts';
import type { HintMeter } from '../framework/event-hints.ts';
import type { PluginHandle } from '../framework/plugin-handle.ts';
import type { PluginMeter } from '../framework/plugin-meter.ts';
import type { SchedulingEntity, QueueKey } from '../framework/scheduling-entity.ts';
import { ProfileError, ProfileProblems } from '../framework/profile-error.ts';
import { Profile } from '../framework/profile.ts';
import type { PluginRegistry } from '../framework/profile.ts';
import type { Status } from '../framework/status.ts';
import type { QueuePolicy } from '../queue/queue-policy.ts';
import { sortKeyOf } from './sort-key.ts';

/** The profiles of one scheduler. They share one queue; as its policy, this class forwards each call to the profile of the entity. */
export class Profiles implements QueuePolicy {
  readonly all: readonly Profile[];
  /** schedulerName -> its profile */
  readonly #byName = new Map<string, Profile>();
  /** profile with reservations -> their configuration */
  readonly #reservations = new Map<Profile, ReservationsConfiguration>();
  /** profile -> its plugins' registrations */
  readonly #hints = new Map<Profile, EventHints>();

  /** Throws ProfileError, which lists all problems of all profiles. */
  constructor(options: {
    readonly configurations: readonly ProfileConfiguration[];
    readonly registry: PluginRegistry;
    /** Returns the handle for the plugins of this profile. */
    readonly handle: (profile: () => Profile, schedulerName: string) => PluginHandle;
    /** If absent, the profiles measure the duration of no call. */
    readonly meters?: { readonly plugins: (schedulerName: string) => PluginMeter; readonly hints: HintMeter };
  }) {
    const { configurations, registry, meters } = options;
    const problems = new ProfileProblems();
    for (const [index, { schedulerName, plugins, points = {}, reservations }] of configurations.entries()) {
      if (configurations.findIndex((other) => other.schedulerName === schedulerName) < index) {
        throw new ProfileError(`two profiles have the schedulerName ${schedulerName}`);
      }
      problems.collect(() => {
        const handle = options.handle(() => profile, schedulerName);
        const meter = meters?.plugins(schedulerName);
        const profile: Profile = new Profile({ schedulerName, enabled: plugins, points, registry, handle, meter });
        this.#byName.set(schedulerName, profile);
        if (reservations !== undefined) this.#reservations.set(profile, reservations);
        const timing = meters && { clock: handle.clock, meter: meters.hints };
        this.#hints.set(profile, new EventHints(profile, timing));
      });
    }
    problems.throwAny();
    this.all = [...this.#byName.values()];
    if (this.all.length === 0) throw new ProfileError('no profile is configured: at least one is required');
    this.#requireSameQueueSort(options.configurations);
    this.#requireSamePools();
  }

  get schedulerNames(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Kinds besides nodes, pods and groups that enabled plugins read, and Jobs if a profile has reservations. */
  get reads(): ReadonlySet<ListedKind> {
    const ofPlugins = this.all.flatMap(({ plugins }) => plugins.flatMap(({ reads = [] }) => reads));
    return new Set(this.hasReservations ? [...ofPlugins, 'Job'] : ofPlugins);
  }

  /** Returns whether a profile has reservations with a predicted start. */
  get hasReservations(): boolean {
    return this.#reservations.size > 0;
  }

  /** Returns the profile's reservations with a predicted start; undefined if they are off. */
  reservationsOf(profile: Profile): ReservationsConfiguration | undefined {
    return this.#reservations.get(profile);
  }

  /** Key of the node label whose values are the pools of reservations. Undefined: the cluster is one pool. */
  get poolLabel(): string | undefined {
    return this.#reservations.values().next().value?.poolLabel;
  }

  /** Returns whether an enabled plugin reads the images of nodes and pods. */
  get readsImages(): boolean {
    return this.all.some(({ plugins }) => plugins.some((plugin) => plugin.readsImages === true));
  }

  /** The first profile, whose name is also the name of the process. */
  get first(): Profile {
    return this.all[0]!;
  }

  /** Returns whether this process schedules pods with this schedulerName. */
  isOurs(schedulerName: string): boolean {
    return this.#byName.has(schedulerName);
  }

  named(schedulerName: string): Profile | undefined {
    return this.#byName.get(schedulerName);
  }

  /** Returns whether the profile of this name schedules gangs as a unit; false if no profile has the name. */
  decidesGangs(schedulerName: string): boolean {
    return this.#byName.get(schedulerName)?.gangPolicy !== undefined;
  }

  /** Returns the profile that schedules the entity. */
  of(schedulingEntity: SchedulingEntity): Profile {
    const name =
      schedulingEntity.kind === 'pod'
        ? schedulingEntity.pod.schedulerName
        : this.schedulerNameOf(schedulingEntity.gang);
    return (name === undefined ? undefined : this.#byName.get(name)) ?? this.first;
  }

  /**
   * Returns the schedulerName under which the gang is scheduled: the first name among its unbound members whose profile schedules gangs.
   * Undefined if there is none; this process then does not schedule the gang.
   */
  schedulerNameOf(gang: GangView): string | undefined {
    for (const name of gang.pendingBySchedulerName.keys()) if (this.decidesGangs(name)) return name;
    if (gang.count('gated') === 0) return undefined;
    for (const pod of gang.members.values()) {
      if (gang.stateOf(pod.uid) === 'gated' && this.decidesGangs(pod.schedulerName)) return pod.schedulerName;
    }
    return undefined;
  }

  compare(a: QueueKey, b: QueueKey): number {
    return this.first.compare(a, b);
  }

  preEnqueue(schedulingEntity: SchedulingEntity): Status | undefined {
    return this.of(schedulingEntity).preEnqueue(schedulingEntity);
  }

  hints(schedulingEntity: SchedulingEntity): EventHints {
    return this.#hints.get(this.of(schedulingEntity))!;
  }

  ignores(event: ClusterEvent): boolean {
    for (const hints of this.#hints.values()) if (!hints.ignores(event)) return false;
    return true;
  }

  sortKey(schedulingEntity: SchedulingEntity, readySince: number): QueueKey {
    return sortKeyOf(schedulingEntity, readySince);
  }

  /** Throws unless all profiles have the same QueueSort order, because there is one queue. */
  #requireSameQueueSort(configurations: readonly ProfileConfiguration[]): void {
    const sorts = configurations.map(({ schedulerName, plugins, points }) => {
      const name = this.#byName.get(schedulerName)!.queueSort;
      const named = [...plugins, ...(points?.queueSort?.enabled ?? [])];
      return { schedulerName, name, args: named.find((plugin) => plugin.name === name)?.args };
    });
    const first = sorts[0]!;
    for (const other of sorts) {
      if (other.name === first.name && isDeepStrictEqual(other.args ?? {}, first.args ?? {})) continue;
      const how = other.name === first.name ? `${first.name} with different arguments` : `${other.name}`;
      const text =
        `it uses the QueueSort plugin ${how}, but profile ${first.schedulerName} uses ${first.name}: ` +
        `all profiles share one queue, so they must enable the same QueueSort plugin with the same arguments`;
      throw new ProfileError([{ schedulerName: other.schedulerName, text, point: 'queueSort' }]);
    }
  }

  /** Throws unless all profiles with reservations have the same pools, because they share the nodes. */
  #requireSamePools(): void {
    const [first] = this.#reservations.keys();
    for (const [profile, { poolLabel }] of this.#reservations) {
      if (poolLabel === this.poolLabel) continue;
      const text =
        `its reservations have the pool label ${poolLabel ?? '(none)'}, but those of profile ${first!.schedulerName} have ` +
        `${this.poolLabel ?? '(none)'}: profiles share the nodes, so all that enable reservations must name the same pool label`;
      throw new ProfileError([{ schedulerName: profile.schedulerName, text }]);
    }
  }
}
