import type { Pod } from '../../api/pod.ts';
import { podGroupDisagreement } from './events.ts';
import type { EventSink } from '../ports.ts';

/** Records one warning per pod whose label and annotation name different groups. */
export class MembershipWarnings {
  readonly #events: EventSink;
  /** uids of pods with a recorded warning */
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
