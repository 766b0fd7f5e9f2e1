import type { Pod, PodTemplate } from '../../api/pod.ts';
import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';

/** A node to which a pod could not be bound so often is not asked again while there is another. */
const patience = 2;

/** For so long a node that has not admitted a pod gets none like it, each time longer, until it changes. */
const rejectionPolicy: BackoffPolicy = { initialMs: 60_000, maxMs: 10 * 60_000 };

/** A node has not admitted pods of one shape. */
interface Rejection {
  /** How often. */
  readonly times: number;
  /** Until it is not kept to any more, then until it is forgotten. */
  timer: Timer | undefined;
}

/**
 * Which nodes did not take which pods, so that others are taken instead.
 * - A Binding failed: the pod goes elsewhere once that has happened twice, and still there where no other node fits. Where all of them have
 *   failed they take turns.
 * - A node did not admit a pod, so it has less than it says: no pod of that shape goes there for a while, or until
 *   another pod has left it.
 */
export class NodeRejections {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #ended: (pod: Pod, nodeName: string) => void;
  /** uid -> node name -> how often a Binding of the pod to it has failed */
  readonly #counts = new Map<string, Map<string, number>>();
  /** node name -> shape -> its rejection */
  readonly #rejections = new Map<string, Map<PodTemplate, Rejection>>();
  /** shape -> names of the nodes that get none like it now */
  readonly #barred = new Map<PodTemplate, Set<string>>();

  constructor(options: {
    readonly clock: Pick<Clock, 'setTimer'>;
    /** The node may be tried again for pods like this one. */
    readonly ended: (pod: Pod, nodeName: string) => void;
  }) {
    this.#clock = options.clock;
    this.#ended = options.ended;
  }

  /** Nothing is to be avoided. */
  get isEmpty(): boolean {
    return this.#counts.size === 0 && this.#barred.size === 0;
  }

  /**
   * A Binding of the pod to the node has failed. `siblings`: uids of the members that are planned with it, for whom nodes are chosen together.
   */
  failed(uid: string, nodeName: string, siblings: Iterable<string> = []): void {
    const counts = this.#counts.get(uid) ?? new Map<string, number>();
    this.#counts.set(uid, counts);
    const count = (counts.get(nodeName) ?? 0) + 1;
    counts.set(nodeName, count);
    if (count <= patience) return;
    // It was asked although it is avoided, so all that they could go to are. What failed there may be over: it is tried before this one again.
    for (const each of [uid, ...siblings]) {
      const others = this.#counts.get(each);
      for (const name of others?.keys() ?? []) if (name !== nodeName) others!.delete(name);
    }
  }

  /** The node has not admitted the pod. */
  notAdmitted(pod: Pod, nodeName: string): void {
    const { template } = pod;
    const shapes = this.#rejections.get(nodeName) ?? new Map<PodTemplate, Rejection>();
    this.#rejections.set(nodeName, shapes);
    const before = shapes.get(template);
    before?.timer?.cancel();
    const rejection: Rejection = { times: (before?.times ?? 0) + 1, timer: undefined };
    shapes.set(template, rejection);
    this.#barred.set(template, (this.#barred.get(template) ?? new Set()).add(nodeName));
    rejection.timer = this.#clock.setTimer(backoffDelay(rejectionPolicy, rejection.times), () => {
      this.#open(template, nodeName);
      // How often it was so counts for a while.
      rejection.timer = this.#clock.setTimer(rejectionPolicy.maxMs, () => shapes.delete(template));
      this.#ended(pod, nodeName);
    });
  }

  /** Names of the nodes that are avoided for the pod where another fits. */
  avoidedBy(pod: Pod): readonly string[] {
    const counts = this.#counts.get(pod.uid) ?? [];
    const failing = [...counts].filter(([, count]) => count >= patience).map(([name]) => name);
    return [...failing, ...this.barredFor(pod)];
  }

  /** Names of the nodes to which none like the pod goes now. */
  barredFor({ template }: Pod): ReadonlySet<string> {
    return this.#barred.get(template) ?? noNodes;
  }

  /** The pod is on a node, or gone. */
  forget(uid: string): void {
    this.#counts.delete(uid);
  }

  /** The node is another now in what scheduling reads of it, or gone: what it did not admit then it may now. */
  nodeChanged(nodeName: string): void {
    for (const [template, { timer }] of this.#rejections.get(nodeName) ?? []) {
      timer?.cancel();
      this.#open(template, nodeName);
    }
    this.#rejections.delete(nodeName);
  }

  /** A pod has left the node: what it did not admit then it may now. How often it has not still counts. */
  capacityFreed(nodeName: string): void {
    for (const template of this.#rejections.get(nodeName)?.keys() ?? []) this.#open(template, nodeName);
  }

  stop(): void {
    for (const shapes of this.#rejections.values()) for (const { timer } of shapes.values()) timer?.cancel();
  }

  #open(template: PodTemplate, nodeName: string): void {
    const names = this.#barred.get(template);
    names?.delete(nodeName);
    if (names?.size === 0) this.#barred.delete(template);
  }
}

const noNodes: ReadonlySet<string> = new Set();
