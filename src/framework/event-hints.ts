import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { ClusterEvent, EventRegistration, QueueingHint } from './cluster-event.ts';
import { describeThrown, dropPromise } from './plugin-answers.ts';
import { CallSampler } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import { ProfileError } from './profile-error.ts';
import type { Profile } from './profile.ts';

/**
 * Stands among the names of plugins for extenders, which cannot say what helps: any event may, as in kube-scheduler. Only that an
 * unbound pod changed helps nobody but itself, and not when it is our own verdict.
 */
export const outsiders = 'Extenders';

interface Registered {
  readonly plugin: string;
  readonly hint: QueueingHint | undefined;
  readonly concernsGangs: boolean;
}

/** What was turned away, and by which plugins; none named means that anything is worth a try. */
export interface TurnedAway {
  readonly isGang: boolean;
  readonly refusedBy: ReadonlySet<string>;
  /** One pod of each kind. */
  readonly refusedPods: readonly Pod[];
}

/** What a hint came to; one that throws counts as one that says Queue. */
export type HintAnswer = 'Queue' | 'QueueSkip' | 'Error';

/** Told of one call of a hint in so many, picked by chance. Must be cheap, and must not throw. */
export type HintMeter = (plugin: string, event: ClusterEvent, answer: HintAnswer, ms: number) => void;

/** Hints are asked about each kind of pod of each entity that waits, at each event. */
const timedCalls = 16;

/** Which plugins of a profile want to hear of which events, asked once at start. */
export class EventHints {
  /** "resource/action" -> the plugins that registered it */
  readonly #registered = new Map<string, Registered[]>();
  readonly #timing: { readonly clock: Pick<Clock, 'monotonic'>; readonly meter: HintMeter } | undefined;
  readonly #calls = new CallSampler(timedCalls);

  /** Without `timing` no call is timed. */
  constructor(profile: Profile, timing?: { readonly clock: Pick<Clock, 'monotonic'>; readonly meter: HintMeter }) {
    this.#timing = timing;
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
  }

  /** Nobody registered such events, so nothing needs to be asked. */
  ignores(event: ClusterEvent): boolean {
    return !this.#registered.has(`${event.resource}/${event.action}`);
  }

  /** Could the event help one of the pods that were turned away? */
  mayHelp(event: ClusterEvent, { isGang, refusedBy, refusedPods }: TurnedAway): boolean {
    if (refusedBy.size === 0) return true;
    if (refusedBy.has(outsiders)) return mayHelpOutside(event, refusedPods);
    return (this.#registered.get(`${event.resource}/${event.action}`) ?? []).some(
      ({ plugin, hint, concernsGangs }) =>
        ((isGang && concernsGangs) || refusedBy.has(plugin)) &&
        (hint === undefined || refusedPods.some((pod) => this.#ask(plugin, hint, pod, event))),
    );
  }

  #ask(plugin: string, hint: QueueingHint, pod: Pod, event: ClusterEvent): boolean {
    const timing = this.#calls.picks() ? this.#timing : undefined;
    const begun = timing?.clock.monotonic() ?? 0;
    const answer = answerOf(hint, pod, event);
    timing?.meter(plugin, event, answer, timing.clock.monotonic() - begun);
    return answer !== 'QueueSkip';
  }
}

function mayHelpOutside(event: ClusterEvent, refusedPods: readonly Pod[]): boolean {
  if (event.resource !== 'UnscheduledPod' || event.action !== 'Update') return true;
  const before = refusedPods.find(({ uid }) => uid === event.pod.uid);
  return before !== undefined && !isDeepStrictEqual(before.labels, event.pod.labels);
}

function registrationsOf(plugin: Plugin, schedulerName: string): readonly EventRegistration[] {
  if (plugin.eventsToRegister === undefined) return [];
  const refuse = (problem: string, cause?: unknown): never => {
    const text = `eventsToRegister of plugin ${plugin.name} ${problem}`;
    throw new ProfileError([{ schedulerName, text, plugin: plugin.name, cause }]);
  };
  let answer: unknown;
  try {
    answer = plugin.eventsToRegister();
  } catch (error) {
    return refuse(`failed: ${describeThrown(error)}`, error);
  }
  dropPromise(answer);
  if (Array.isArray(answer) && answer.every(isRegistration)) return answer;
  return refuse('must answer a list of { resource, actions }, and where a hint is given, a function');
}

function isRegistration(value: unknown): value is EventRegistration {
  if (typeof value !== 'object' || value === null) return false;
  const { resource, actions, hint } = value as Partial<EventRegistration>;
  return typeof resource === 'string' && Array.isArray(actions) && (hint === undefined || typeof hint === 'function');
}

function answerOf(hint: QueueingHint, pod: Pod, event: ClusterEvent): HintAnswer {
  try {
    return hint(pod, event) ? 'Queue' : 'QueueSkip';
  } catch {
    return 'Error';
  }
}
