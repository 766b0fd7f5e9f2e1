import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../api/pod.ts';
import type { ClusterEvent, EventRegistration, QueueingHint } from './cluster-event.ts';
import { describeThrown, dropPromise } from './plugin-answers.ts';
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

/** Which plugins of a profile want to hear of which events, asked once at start. */
export class EventHints {
  /** "resource/action" -> the plugins that registered it */
  readonly #registered = new Map<string, Registered[]>();

  constructor(profile: Profile) {
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
        (hint === undefined || refusedPods.some((pod) => safely(hint, pod, event))),
    );
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

function safely(hint: QueueingHint, pod: Pod, event: ClusterEvent): boolean {
  try {
    return hint(pod, event);
  } catch {
    return true;
  }
}
