import { noVolumes } from '../api/pod-volume.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { ClusterEvent, EventRegistration, QueueingHint } from './cluster-event.ts';
import { describeThrown, dropPromise } from './plugin-answers.ts';
import { CallSampler } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import { ProfileError } from './profile-error.ts';
import type { Profile } from './profile.ts';
import type { ResourceDemand } from './resource-demand.ts';

/**
 * Stands among the names of plugins for extenders, which cannot say what helps: any event may, as in kube-scheduler. Only that an
 * unbound pod changed helps nobody but itself.
 */
export const outsiders = 'Extenders';

/** What one plugin registered for one kind of event. */
export interface Registered {
  readonly plugin: string;
  readonly hint: QueueingHint | undefined;
  readonly concernsGangs: boolean;
}

/** Why an entity was rejected. When `unschedulablePlugins` is empty any event is worth a try. */
export interface Rejection {
  readonly isGang: boolean;
  /** Names of the plugins. */
  readonly unschedulablePlugins: ReadonlySet<string>;
  /** Of these, those that answered Pending. */
  readonly pending: ReadonlySet<string>;
  /** One pod of each kind that was rejected: the queueing hints are asked about these. */
  readonly rejectedPods: readonly Pod[];
  /** What has to be placed; undefined: not known. */
  readonly demand?: ResourceDemand | undefined;
}

/**
 * How an entity may be tried again: once what is left of its penalty is over, or at once, because a plugin that answered Pending has what
 * it waited for.
 */
export type Retry = 'afterBackoff' | 'atOnce';

/** What a hint came to; one that throws counts as one that says Queue. */
export type HintAnswer = 'Queue' | 'QueueSkip' | 'Error';

/** Told of one call of a hint in so many, picked by chance. Must be cheap, and must not throw. */
export type HintMeter = (plugin: string, event: ClusterEvent, answer: HintAnswer, ms: number) => void;

/** Hints are asked about each kind of pod that waits, at each event. */
const timedCalls = 16;

const none: readonly Registered[] = [];

/** Which plugins of a profile want to hear of which events, asked once at start. */
export class EventHints {
  /** Some plugin wants gangs to be asked whoever turned them away. */
  readonly concernsGangs: boolean;
  /** "resource/action" -> the plugins that registered it */
  readonly #registered = new Map<string, Registered[]>();
  /** name -> plugin */
  readonly #plugins: ReadonlyMap<string, Plugin>;
  /** Plugins whose PreEnqueue may answer otherwise after an event that they have registered. */
  readonly #gatekeepers: ReadonlySet<string>;
  /** Those that can rule out what they have rejected. */
  readonly #judges: readonly Plugin[];
  readonly #timing: { readonly clock: Pick<Clock, 'monotonic'>; readonly meter: HintMeter } | undefined;
  readonly #calls = new CallSampler(timedCalls);

  /** Without `timing` no call is timed. */
  constructor(profile: Profile, timing?: { readonly clock: Pick<Clock, 'monotonic'>; readonly meter: HintMeter }) {
    this.#timing = timing;
    this.#plugins = new Map(profile.plugins.map((plugin) => [plugin.name, plugin]));
    // Where room may be made, what is short now is no reason not to ask.
    const filters = profile.hasPostFilter ? [] : [...profile.localFilters, ...profile.otherFilters];
    this.#judges = filters.map(({ plugin }) => plugin).filter((plugin) => plugin.rulesOut !== undefined);
    for (const plugin of profile.plugins) {
      for (const { resource, actions, hint, concernsGangs = false } of registrationsOf(plugin, profile.schedulerName)) {
        for (const action of actions) {
          const key = `${resource}/${action}`;
          const list = this.#registered.get(key) ?? [];
          list.push({ plugin: plugin.name, hint, concernsGangs });
          this.#registered.set(key, list);
        }
      }
    }
    const registrants = new Set([...this.#registered.values()].flat().map(({ plugin }) => plugin));
    const gatekeepers = profile.plugins.filter(
      (plugin) => plugin.preEnqueue !== undefined && plugin.decidesGangs !== true && registrants.has(plugin.name),
    );
    this.#gatekeepers = new Set(gatekeepers.map(({ name }) => name));
    this.concernsGangs = [...this.#registered.values()].flat().some((registered) => registered.concernsGangs);
  }

  /** Nobody registered such events, so nothing needs to be asked. */
  ignores(event: ClusterEvent): boolean {
    return this.registered(event) === none;
  }

  /** What was registered for events of this kind. */
  registered({ resource, action }: ClusterEvent): readonly Registered[] {
    return this.#registered.get(`${resource}/${action}`) ?? none;
  }

  /** How, if the event could help one of the rejected pods; undefined: it cannot. */
  retryAfter(
    event: ClusterEvent,
    { isGang, unschedulablePlugins, pending, rejectedPods }: Rejection,
  ): Retry | undefined {
    if (unschedulablePlugins.size === 0) return 'afterBackoff';
    if (unschedulablePlugins.has(outsiders)) return mayHelpOutside(event) ? 'afterBackoff' : undefined;
    let retry: Retry | undefined;
    for (const registered of this.registered(event)) {
      const isConcerned = (isGang && registered.concernsGangs) || unschedulablePlugins.has(registered.plugin);
      if (!isConcerned || !rejectedPods.some((pod) => this.helps(registered, pod, event))) continue;
      if (pending.has(registered.plugin)) return 'atOnce';
      retry = 'afterBackoff';
      if (pending.size === 0) break;
    }
    return retry;
  }

  /** As `retryAfter`, for the events that happened during an attempt. */
  retryAfterAny(events: readonly ClusterEvent[], rejection: Rejection): Retry | undefined {
    let retry: Retry | undefined;
    for (const event of events) {
      retry = this.retryAfter(event, rejection) ?? retry;
      // No event can do more for it, unless a plugin waits for something.
      if (retry === 'atOnce' || (retry !== undefined && rejection.pending.size === 0)) break;
    }
    return retry;
  }

  /**
   * Whether some event may make the plugin let in what its PreEnqueue has rejected. Not the one that decides what a gang is: that goes by
   * the gang alone, and is asked whenever it changes.
   */
  mayUngate(plugin: string): boolean {
    return this.#gatekeepers.has(plugin);
  }

  /** Could the event help this pod, as far as the plugin is concerned? */
  helps({ plugin, hint }: Registered, pod: Pod, event: ClusterEvent): boolean {
    if (hint === undefined) return true;
    const timing = this.#calls.picks() ? this.#timing : undefined;
    const begun = timing?.clock.monotonic() ?? 0;
    const answer = answerOf(hint, pod, event);
    timing?.meter(plugin, event, answer, timing.clock.monotonic() - begun);
    return answer !== 'QueueSkip';
  }

  /** Whether one of the plugins that rejected it is certain that it would again. */
  rulesOut({ unschedulablePlugins, demand }: Rejection): boolean {
    return (
      demand !== undefined &&
      this.#judges.some((plugin) => unschedulablePlugins.has(plugin.name) && isRuledOut(plugin, demand))
    );
  }

  /**
   * What makes pods alike to the plugin's hints: pods with equal texts get equal answers. Undefined: nothing that is known. Pods may be
   * alike although their claims are their own; what happens to a claim is about one of them.
   */
  kindOf(plugin: string, pod: Pod): string | undefined {
    if (pod.volumes !== noVolumes) return undefined;
    try {
      const text: unknown = this.#plugins.get(plugin)?.sign?.(pod);
      return typeof text === 'string' ? text : undefined;
    } catch {
      return undefined;
    }
  }
}

/** What became of extenders' rejections by the event. */
export function mayHelpOutside({ resource, action }: ClusterEvent): boolean {
  return resource !== 'UnscheduledPod' || action !== 'Update';
}

function registrationsOf(plugin: Plugin, schedulerName: string): readonly EventRegistration[] {
  if (plugin.eventsToRegister === undefined) return [];
  const reject = (problem: string, cause?: unknown): never => {
    const text = `eventsToRegister of plugin ${plugin.name} ${problem}`;
    throw new ProfileError([{ schedulerName, text, plugin: plugin.name, cause }]);
  };
  let answer: unknown;
  try {
    answer = plugin.eventsToRegister();
  } catch (error) {
    return reject(`failed: ${describeThrown(error)}`, error);
  }
  dropPromise(answer);
  if (Array.isArray(answer) && answer.every(isRegistration)) return answer;
  return reject('must answer a list of { resource, actions }, and where a hint is given, a function');
}

function isRegistration(value: unknown): value is EventRegistration {
  if (typeof value !== 'object' || value === null) return false;
  const { resource, actions, hint } = value as Partial<EventRegistration>;
  return typeof resource === 'string' && Array.isArray(actions) && (hint === undefined || typeof hint === 'function');
}

function isRuledOut(plugin: Plugin, demand: ResourceDemand): boolean {
  try {
    // An answer of another type is none.
    return (plugin.rulesOut!(demand) as unknown) === true;
  } catch {
    return false;
  }
}

function answerOf(hint: QueueingHint, pod: Pod, event: ClusterEvent): HintAnswer {
  try {
    return hint(pod, event) ? 'Queue' : 'QueueSkip';
  } catch {
    return 'Error';
  }
}
