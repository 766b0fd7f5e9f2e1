import { parseGroupKey } from '../../src/api/group-key.ts';
import { nativePodGroupPath } from '../../src/api/native-pod-group.ts';
import type { NativeVersion } from '../../src/api/native-pod-group.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import type { KubeClient } from '../../src/client/kube-client.ts';
import { Pulse } from './pulse.ts';
import { Recording } from './recording.ts';
import type { WatchedEvent, WatchedNativeGroup, WatchedNode, WatchedPod, WatchedPodGroup } from './watched.ts';

interface Waiter {
  readonly look: () => void;
}

/**
 * What the API server shows of a cluster, and everything that it has shown since the record was opened. Expectations wait on it, and tests
 * assert on its history that something never happened.
 */
export class ClusterRecord {
  readonly pods: Recording<WatchedPod>;
  readonly podGroups: Recording<WatchedPodGroup>;
  readonly nodes: Recording<WatchedNode>;
  readonly events: Recording<WatchedEvent>;
  readonly pulse: Pulse;
  readonly #client: KubeClient;
  readonly #waiters: Set<Waiter>;
  #nativePodGroups: Recording<WatchedNativeGroup> | undefined;

  private constructor(
    client: KubeClient,
    recordings: Pick<ClusterRecord, 'pods' | 'podGroups' | 'nodes' | 'events'>,
    pulse: Pulse,
    waiters: Set<Waiter>,
  ) {
    this.#client = client;
    this.pods = recordings.pods;
    this.podGroups = recordings.podGroups;
    this.nodes = recordings.nodes;
    this.events = recordings.events;
    this.pulse = pulse;
    this.#waiters = waiters;
  }

  static async open(client: KubeClient): Promise<ClusterRecord> {
    const waiters = new Set<Waiter>();
    const onChange = (): void => lookAll(waiters);
    const [pods, podGroups, nodes, events] = await Promise.all([
      Recording.open<WatchedPod>(client, '/api/v1/pods', onChange),
      Recording.open<WatchedPodGroup>(client, podGroupPath(), onChange),
      Recording.open<WatchedNode>(client, '/api/v1/nodes', onChange),
      Recording.open<WatchedEvent>(client, '/api/v1/events', onChange),
    ]);
    return new ClusterRecord(client, { pods, podGroups, nodes, events }, new Pulse(client), waiters);
  }

  /** PodGroups of `scheduling.k8s.io`, once they are recorded. */
  get nativePodGroups(): Recording<WatchedNativeGroup> | undefined {
    return this.#nativePodGroups;
  }

  /** Also records the PodGroups of `scheduling.k8s.io` from now on. The server must serve this version. */
  async recordNativeGroups(version: NativeVersion): Promise<void> {
    this.#nativePodGroups ??= await Recording.open<WatchedNativeGroup>(
      this.#client,
      nativePodGroupPath(version),
      () => lookAll(this.#waiters),
      { mayBeAbsent: true },
    );
  }

  /** Returns the PodGroup with this key (`groupKeyOf`) as it is now; undefined: it does not exist. */
  podGroup(key: string): WatchedPodGroup | WatchedNativeGroup | undefined {
    const { source, namespace, name } = parseGroupKey(key);
    const groups = source === 'scheduling.k8s.io' ? this.#nativePodGroups : this.podGroups;
    return groups?.current.get(`${namespace}/${name}`);
  }

  /**
   * Resolves as soon as `check` returns undefined. It runs now and at every change. Any other result describes what is still missing; the
   * rejection at the deadline contains it.
   */
  until(what: string, withinMs: number, check: () => string | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        if (error === undefined) resolve();
        else reject(error);
      };
      const timer = setTimeout(() => {
        const missing = check();
        settle(missing === undefined ? undefined : new Error(`not within ${withinMs} ms: ${what}; ${missing}`));
      }, withinMs);
      const waiter: Waiter = {
        look: () => {
          try {
            const hole = this.#hole();
            if (hole !== undefined) settle(hole);
            else if (check() === undefined) settle();
          } catch (error) {
            settle(error as Error);
          }
        },
      };
      this.#waiters.add(waiter);
      waiter.look();
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#recordings, this.pulse].map((part) => part.close()));
    const hole = this.#hole();
    if (hole !== undefined) throw hole;
  }

  #hole(): Error | undefined {
    return this.#recordings.find(({ failure }) => failure !== undefined)?.failure;
  }

  get #recordings(): readonly Pick<Recording<WatchedNode>, 'failure' | 'close'>[] {
    const native = this.#nativePodGroups;
    return [this.pods, this.podGroups, this.nodes, this.events, ...(native === undefined ? [] : [native])];
  }
}

function lookAll(waiters: ReadonlySet<Waiter>): void {
  for (const waiter of [...waiters]) waiter.look();
}
