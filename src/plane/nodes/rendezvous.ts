import type { Clock } from '../../base/clock.ts';
import { toError } from '../../base/to-error.ts';
import { podGroupPath, projectPodGroup } from '../../api/pod-group.ts';
import { NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { wait } from '../../client/wait.ts';
import type { OnSimulationProblem } from './simulation-problem.ts';

export interface RendezvousOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How many members of a group (namespace/name) the API shows running now. */
  readonly runningMembers: (groupKey: string) => number;
  readonly onProblem: OnSimulationProblem;
}

export interface GroupName {
  readonly namespace: string;
  readonly name: string;
}

interface Waiting {
  readonly needed: number | 'minMember';
  readonly meet: () => void;
}

interface MeetingPlace {
  readonly group: GroupName;
  readonly waiting: Set<Waiting>;
  /** minMember as last read; undefined while the PodGroup is not known. */
  quorum: number | undefined;
  isReading: boolean;
}

/** How often a PodGroup is read again while members wait for its minMember. */
const readEveryMs = 1_000;

/** Where members of a group wait until enough of them run at the same time. */
export class Rendezvous {
  readonly #options: RendezvousOptions;
  /** namespace/name of a group -> its members that wait; absent when none does. */
  readonly #places = new Map<string, MeetingPlace>();

  constructor(options: RendezvousOptions) {
    this.#options = options;
  }

  /**
   * Calls `meet` once, as soon as `needed` members of the group run; never from within this call. The function returned
   * gives up the wait.
   */
  join(group: GroupName, needed: number | 'minMember', meet: () => void): () => void {
    const key = `${group.namespace}/${group.name}`;
    const place = this.#places.get(key) ?? { group, waiting: new Set<Waiting>(), quorum: undefined, isReading: false };
    this.#places.set(key, place);
    const waiting: Waiting = { needed, meet };
    place.waiting.add(waiting);
    if (needed === 'minMember' && !place.isReading) void this.#readQuorum(key, place);
    else queueMicrotask(() => this.changed(key));
    return () => {
      place.waiting.delete(waiting);
      this.#leaveIfEmpty(key, place);
    };
  }

  /** To be called whenever the number of running members of a group may have changed. */
  changed(groupKey: string): void {
    const place = this.#places.get(groupKey);
    if (place === undefined) return;
    const running = this.#options.runningMembers(groupKey);
    // All that may go leave first, so that the members of one group set out together.
    const meeting = [...place.waiting].filter(({ needed }) => {
      const enough = needed === 'minMember' ? place.quorum : needed;
      return enough !== undefined && running >= enough;
    });
    for (const waiting of meeting) place.waiting.delete(waiting);
    this.#leaveIfEmpty(groupKey, place);
    for (const { meet } of meeting) meet();
  }

  #leaveIfEmpty(key: string, place: MeetingPlace): void {
    if (place.waiting.size === 0 && this.#places.get(key) === place) this.#places.delete(key);
  }

  /** Reads minMember again and again for as long as a member waits for it: the group may appear late, or change. */
  async #readQuorum(key: string, place: MeetingPlace): Promise<void> {
    const { client, clock, signal, onProblem } = this.#options;
    const { namespace, name } = place.group;
    place.isReading = true;
    while (!signal.aborted && [...place.waiting].some(({ needed }) => needed === 'minMember')) {
      try {
        const raw = await client.get(podGroupPath(namespace, name), { signal });
        place.quorum = projectPodGroup(raw).minMember;
      } catch (thrown) {
        place.quorum = undefined;
        if (signal.aborted) break;
        const error = toError(thrown);
        const message = 'minMember of a group that meets could not be read';
        if (!(error instanceof NotFoundError)) onProblem({ message, subject: `podgroup ${key}`, error });
      }
      this.changed(key);
      await wait(clock, readEveryMs, signal).catch(() => undefined); // aborted: the loop ends
    }
    place.isReading = false;
  }
}
