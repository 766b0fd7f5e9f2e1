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
 * Pseudo plugin name for extenders. An extender cannot register events, so any event may help, as in kube-scheduler. The exception is
 * an update of an unscheduled pod, which helps only that pod.
 */
export const outsiders = 'Extenders';

/** Registration of one plugin for one kind of event. */
export interface Registered {
  readonly plugin: string;
  readonly hint: QueueingHint | undefined;
  readonly concernsGangs: boolean;
}

/** Why an entity was rejected. If `unschedulablePlugins` is empty, any event may help. */
export interface Rejection {
  readonly isGang: boolean;
  /** Names of the plugins that rejected the entity. */
  readonly unschedulablePlugins: ReadonlySet<string>;
  /** Subset of `unschedulablePlugins` that returned Pending. */
  readonly pending: ReadonlySet<string>;
  /** One pod per rejected pod class; queueing hints run for these pods. */
  readonly rejectedPods: readonly Pod[];
  /** Pods to place; undefined: unknown. */
  readonly demand?: ResourceDemand | undefined;
  /** It would fit but for capacity that is reserved for an entity ahead of it. */
  readonly waitsForTurn?: boolean | undefined;
}

/**
 * When to retry an entity: after the rest of its backoff, or at once because what a plugin that returned Pending waited for has happened.
 */
export type Retry = 'afterBackoff' | 'atOnce';

/** Result of a queueing hint. If the hint throws, the result is Error, which requeues the pod like Queue. */
export type HintAnswer = 'Queue' | 'QueueSkip' | 'Error';

/** Called for a random sample of hint calls. Must be cheap, and must not throw. */
export type HintMeter = (plugin: string, event: ClusterEvent, result: HintAnswer, ms: number) => void;

/** Mean number of hint calls per timed call. Hints run for each waiting pod class at each event. */
const timedCalls = 16;

const none: readonly Registered[] = [];

/** The events that the plugins of a profile registered, read once at start. */
export class EventHints {
  /** True if a plugin's hints run for gangs whichever plugins rejected them. */
  readonly concernsGangs: boolean;
  /** "resource/action" -> the plugins that registered it */
  readonly #registered = new Map<string, Registered[]>();
  /** name -> plugin */
  readonly #plugins: ReadonlyMap<string, Plugin>;
  /** Names of the plugins whose PreEnqueue result may change after an event that they registered. */
  readonly #gatingPlugins: ReadonlySet<string>;
  /** Plugins with Filter and `rulesOut`. */
  readonly #filtersWithRulesOut: readonly Plugin[];
  readonly #postFilters: readonly Plugin[];
  readonly #timing: { readonly clock: Pick<Clock, 'monotonic'>; readonly meter: HintMeter } | undefined;
  readonly #calls = new CallSampler(timedCalls);

  /** Without `timing`, measures the duration of no call. */
  constructor(profile: Profile, timing?: { readonly clock: Pick<Clock, 'monotonic'>; readonly meter: HintMeter }) {
    this.#timing = timing;
    this.#plugins = new Map(profile.plugins.map((plugin) => [plugin.name, plugin]));
    this.#filtersWithRulesOut = [...profile.localFilters, ...profile.otherFilters]
      .map(({ plugin }) => plugin)
      .filter((plugin) => plugin.rulesOut !== undefined);
    this.#postFilters = profile.postFilters;
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
    const gating = profile.plugins.filter(
      (plugin) => plugin.preEnqueue !== undefined && plugin.decidesGangs !== true && registrants.has(plugin.name),
    );
    this.#gatingPlugins = new Set(gating.map(({ name }) => name));
    this.concernsGangs = [...this.#registered.values()].flat().some((registered) => registered.concernsGangs);
  }

  /** Returns whether no plugin registered this kind of event. */
  ignores(event: ClusterEvent): boolean {
    return this.registered(event) === none;
  }

  /** Returns the registrations for this kind of event. */
  registered({ resource, action }: ClusterEvent): readonly Registered[] {
    return this.#registered.get(`${resource}/${action}`) ?? none;
  }

  /** Returns when to retry the entity if the event may help one of the rejected pods; undefined if it cannot. */
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

  /** Like `retryAfter`, for all events that happened during an attempt. */
  retryAfterAny(events: readonly ClusterEvent[], rejection: Rejection): Retry | undefined {
    let retry: Retry | undefined;
    for (const event of events) {
      retry = this.retryAfter(event, rejection) ?? retry;
      // No later event can retry it sooner, unless a plugin returned Pending.
      if (retry === 'atOnce' || (retry !== undefined && rejection.pending.size === 0)) break;
    }
    return retry;
  }

  /**
   * Returns whether an event may change the plugin's PreEnqueue rejection. Excludes the plugin that decides what a gang is: it depends
   * only on the gang, and the queue calls it whenever the gang changes.
   */
  mayUngate(plugin: string): boolean {
    return this.#gatingPlugins.has(plugin);
  }

  /** Returns whether the plugin's hint expects the event to help this pod. */
  helps({ plugin, hint }: Registered, pod: Pod, event: ClusterEvent): boolean {
    if (hint === undefined) return true;
    const timing = this.#calls.picks() ? this.#timing : undefined;
    const startedAt = timing?.clock.monotonic() ?? 0;
    const result = resultOf(hint, pod, event);
    timing?.meter(plugin, event, result, timing.clock.monotonic() - startedAt);
    return result !== 'QueueSkip';
  }

  /**
   * Returns whether one of the plugins that rejected the entity is certain to reject it again, whatever capacity the PostFilter plugins
   * free. False if the entity waited for its turn: it would now wait for capacity, which its verdict must say.
   */
  rulesOut({ unschedulablePlugins, demand, waitsForTurn }: Rejection): boolean {
    return (
      waitsForTurn !== true &&
      demand !== undefined &&
      this.#filtersWithRulesOut.some((plugin) => unschedulablePlugins.has(plugin.name) && isRuledOut(plugin, demand)) &&
      this.#postFilters.every((plugin) => plugin.rulesOut !== undefined && isRuledOut(plugin, demand))
    );
  }

  /**
   * Returns the text that identifies the pod's class for the plugin's hints: pods with equal texts get equal results. Undefined: no two
   * pods are known to be equal. Excludes pods with volumes: their signatures may be equal although each pod has its own claims, and an
   * event on a claim concerns only one of them.
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

/** Returns whether the event may change an extender's rejection. */
export function mayHelpOutside({ resource, action }: ClusterEvent): boolean {
  return resource !== 'UnscheduledPod' || action !== 'Update';
}

function registrationsOf(plugin: Plugin, schedulerName: string): readonly EventRegistration[] {
  if (plugin.eventsToRegister === undefined) return [];
  const reject = (problem: string, cause?: unknown): never => {
    const text = `eventsToRegister of plugin ${plugin.name} ${problem}`;
    throw new ProfileError([{ schedulerName, text, plugin: plugin.name, cause }]);
  };
  let result: unknown;
  try {
    result = plugin.eventsToRegister();
  } catch (error) {
    return reject(`failed: ${describeThrown(error)}`, error);
  }
  dropPromise(result);
  if (Array.isArray(result) && result.every(isRegistration)) return result;
  return reject('must return a list of { resource, actions, hint? }; hint must be a function');
}

function isRegistration(value: unknown): value is EventRegistration {
  if (typeof value !== 'object' || value === null) return false;
  const { resource, actions, hint } = value as Partial<EventRegistration>;
  return typeof resource === 'string' && Array.isArray(actions) && (hint === undefined || typeof hint === 'function');
}

/** Returns whether the plugin rules the pods out. A plugin that fails does not. */
export function isRuledOut(plugin: Plugin, demand: ResourceDemand): boolean {
  try {
    // Any other value counts as false.
    return (plugin.rulesOut!(demand) as unknown) === true;
  } catch {
    return false;
  }
}

function resultOf(hint: QueueingHint, pod: Pod, event: ClusterEvent): HintAnswer {
  try {
    return hint(pod, event) ? 'Queue' : 'QueueSkip';
  } catch {
    return 'Error';
  }
}
