import type { Pod } from '../../api/pod.ts';
import { podGroupDisagreement } from './events.ts';
import type { EventSink } from '../ports.ts';

/** Warns, once a pod, of a label and an annotation that name different groups. */
export class MembershipWarnings {
  readonly #events: EventSink;
  /** uids of the pods that were warned of */
  readonly #warned = new Set<string>();

  constructor(events: EventSink) {
    this.#events = events;
  }

  podSeen(pod: Pod): void {
    const { membershipDisagreement: disagreement, uid } = pod;
    if (disagreement === undefined || this.#warned.has(uid)) return;
    this.#warned.add(uid);
    this.#events.record(podGroupDisagreement(pod, disagreement));
  }

  podGone(uid: string): void {
    this.#warned.delete(uid);
  }
}
