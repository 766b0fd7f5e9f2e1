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
  /** Returns how many members of a group (namespace/name) are running according to the API. */
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
  /** minMember as last read; undefined while the PodGroup is unknown. */
  quorum: number | undefined;
  isReading: boolean;
}

/** How often to read a PodGroup while members wait for its minMember. */
const readEveryMs = 1_000;

/** Lets members of a group wait until enough of them run at the same time. */
export class Rendezvous {
  readonly #options: RendezvousOptions;
  /** namespace/name of a group -> its waiting members; absent if none waits */
  readonly #places = new Map<string, MeetingPlace>();

  constructor(options: RendezvousOptions) {
    this.#options = options;
  }

  /**
   * Calls `meet` once, as soon as `needed` members of the group run, but never synchronously. Returns a function that cancels the wait.
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
      this.#deleteIfEmpty(key, place);
    };
  }

  /** Must be called whenever the number of running members of a group may have changed. */
  changed(groupKey: string): void {
    const place = this.#places.get(groupKey);
    if (place === undefined) return;
    const running = this.#options.runningMembers(groupKey);
    // Remove all ready members before calling any of them, so that the members of a group continue together.
    const meeting = [...place.waiting].filter(({ needed }) => {
      const quorum = needed === 'minMember' ? place.quorum : needed;
      return quorum !== undefined && running >= quorum;
    });
    for (const waiting of meeting) place.waiting.delete(waiting);
    this.#deleteIfEmpty(groupKey, place);
    for (const { meet } of meeting) meet();
  }

  #deleteIfEmpty(key: string, place: MeetingPlace): void {
    if (place.waiting.size === 0 && this.#places.get(key) === place) this.#places.delete(key);
  }

  /** Reads minMember repeatedly while a member waits for it: the PodGroup may appear late, or change. */
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
        const message = 'cannot read minMember for rendezvous; retrying';
        if (!(error instanceof NotFoundError)) onProblem({ message, subject: `podgroup ${key}`, error });
      }
      this.changed(key);
      await wait(clock, readEveryMs, signal).catch(() => undefined); // aborted: the loop ends
    }
    place.isReading = false;
  }
}
