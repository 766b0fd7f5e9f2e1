import type { Pod } from '../../api/pod.ts';
import { foreignGroupKey, invalidRuntime, podGroupDisagreement } from './events.ts';
import type { EventSink } from '../ports.ts';

/** Records a warning for each mistake in the metadata of a pod: once per pod and kind of mistake. */
export class PodWarnings {
  readonly #events: EventSink;
  /** uids of pods with a warning that their label and annotation name different groups */
  readonly #disagreements = new Set<string>();
  /** uids of pods with a warning that their annotation declares no run time */
  readonly #runtimes = new Set<string>();
  /** uids of pods with a warning that only another gang scheduler would find their group */
  readonly #groupKeys = new Set<string>();

  constructor(events: EventSink) {
    this.#events = events;
  }

  podSeen(pod: Pod): void {
    const { uid } = pod;
    if (pod.membershipDisagreement !== undefined && !this.#disagreements.has(uid)) {
      this.#disagreements.add(uid);
      this.#events.record(podGroupDisagreement(pod, pod.membershipDisagreement));
    }
    if (pod.invalidRuntime !== undefined && !this.#runtimes.has(uid)) {
      this.#runtimes.add(uid);
      this.#events.record(invalidRuntime(pod, pod.invalidRuntime));
    }
    if (pod.groupKeyOfOther !== undefined && pod.nodeName === '' && !this.#groupKeys.has(uid)) {
      this.#groupKeys.add(uid);
      this.#events.record(foreignGroupKey(pod, pod.groupKeyOfOther));
    }
  }

  podGone(uid: string): void {
    this.#disagreements.delete(uid);
    this.#runtimes.delete(uid);
    this.#groupKeys.delete(uid);
  }
}
