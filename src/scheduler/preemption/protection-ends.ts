import type { Pod } from '../../api/pod.ts';
import { DueTimes } from '../../base/due-times.ts';
import type { Intake } from '../intake/intake.ts';
import type { ProtectedUntil } from './search/protected-until.ts';

/** Maximum number of nodes for which entities are woken in one turn, and the time until the next turn. */
const nodesAtATime = 100;
const nextTurnMs = 5;

/** Wakes entities that may fit on a node once a pod there, which a search could not evict yet, may be evicted. */
export class ProtectionEnds {
  readonly #intake: Pick<Intake, 'clock' | 'cluster' | 'queue'>;
  /** node -> the first of its pods whose protection ends, due then; later ones are noted again by the search that follows */
  readonly #due: DueTimes<string, Pod>;
  /** Number of nodes handled at `#turn`, as Clock.monotonic(). */
  #handled = 0;
  #turn = -1;

  constructor(intake: Pick<Intake, 'clock' | 'cluster' | 'queue'>) {
    this.#intake = intake;
    this.#due = new DueTimes(intake.clock, (nodeName, pod) => this.#ended(nodeName, pod));
  }

  /** A search found no victims, and these pods were protected. */
  note(pods: Iterable<ProtectedUntil>): void {
    const { clock } = this.#intake;
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    for (const { pod, until } of pods) {
      const due = monotonic + until - now;
      if (due < this.#due.dueAt(pod.nodeName)) this.#due.set(pod.nodeName, due, pod);
    }
  }

  stop(): void {
    this.#due.stop();
  }

  #ended(nodeName: string, { uid }: Pod): void {
    const { clock, cluster, queue } = this.#intake;
    const now = clock.monotonic();
    if (now !== this.#turn) [this.#turn, this.#handled] = [now, 0];
    // If the pod is gone, the entities that this helps were woken then.
    const pod = cluster.pod(uid);
    if (pod?.nodeName !== nodeName) return;
    if (this.#handled++ < nodesAtATime) queue.moveOnEvent({ resource: 'AssignedPod', action: 'Update', pod, old: pod });
    else this.#due.set(nodeName, now + nextTurnMs, pod);
  }
}
