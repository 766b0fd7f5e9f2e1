import type { Pod } from '../api/pod.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import { regardingPod } from './pod-events.ts';

/** Warns, once a pod, of a label and an annotation that name different groups. */
export class MembershipWarnings {
  readonly #events: Pick<EventRecorder, 'record'>;
  /** uids of the pods that were warned of */
  readonly #warned = new Set<string>();

  constructor(events: Pick<EventRecorder, 'record'>) {
    this.#events = events;
  }

  podSeen(pod: Pod): void {
    const { membershipDisagreement: disagreement, uid } = pod;
    if (disagreement === undefined || this.#warned.has(uid)) return;
    this.#warned.add(uid);
    this.#events.record({
      regarding: regardingPod(pod),
      type: 'Warning',
      reason: 'PodGroupDisagreement',
      action: 'Scheduling',
      note:
        `the pod's label names PodGroup ${disagreement.label}, its annotation ${disagreement.annotation}; ` +
        `the label is used: remove the annotation or make them equal`,
    });
  }

  podGone(uid: string): void {
    this.#warned.delete(uid);
  }
}
