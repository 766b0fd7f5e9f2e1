import { podGroupPath } from '../../src/api/pod-group.ts';
import type { KubeClient } from '../../src/client/kube-client.ts';
import { Pulse } from './pulse.ts';
import { Recording } from './recording.ts';
import type { WatchedEvent, WatchedNode, WatchedPod, WatchedPodGroup } from './watched.ts';

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
  readonly #waiters: Set<Waiter>;

  private constructor(
    recordings: Pick<ClusterRecord, 'pods' | 'podGroups' | 'nodes' | 'events'>,
    pulse: Pulse,
    waiters: Set<Waiter>,
  ) {
    this.pods = recordings.pods;
    this.podGroups = recordings.podGroups;
    this.nodes = recordings.nodes;
    this.events = recordings.events;
    this.pulse = pulse;
    this.#waiters = waiters;
  }

  static async open(client: KubeClient): Promise<ClusterRecord> {
    const waiters = new Set<Waiter>();
    const onChange = (): void => {
      for (const waiter of [...waiters]) waiter.look();
    };
    const [pods, podGroups, nodes, events] = await Promise.all([
      Recording.open<WatchedPod>(client, '/api/v1/pods', onChange),
      Recording.open<WatchedPodGroup>(client, podGroupPath(), onChange),
      Recording.open<WatchedNode>(client, '/api/v1/nodes', onChange),
      Recording.open<WatchedEvent>(client, '/api/v1/events', onChange),
    ]);
    return new ClusterRecord({ pods, podGroups, nodes, events }, new Pulse(client), waiters);
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
    await Promise.all([this.pods, this.podGroups, this.nodes, this.events, this.pulse].map((part) => part.close()));
    const hole = this.#hole();
    if (hole !== undefined) throw hole;
  }

  #hole(): Error | undefined {
    return [this.pods, this.podGroups, this.nodes, this.events].find(({ failure }) => failure !== undefined)?.failure;
  }
}
