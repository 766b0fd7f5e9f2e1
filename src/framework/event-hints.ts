import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../api/pod.ts';
import type { ClusterEvent, QueueingHint } from './cluster-event.ts';
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
      for (const { resource, actions, hint, concernsGangs = false } of plugin.eventsToRegister?.() ?? []) {
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

function safely(hint: QueueingHint, pod: Pod, event: ClusterEvent): boolean {
  try {
    return hint(pod, event);
  } catch {
    return true;
  }
}
