import type { Pod, PodTemplate } from '../../api/pod.ts';
import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';

/** After this many failed bindings of a pod to a node, the pod avoids the node while another one fits. */
const maxFailures = 2;

/** How long a node that rejected a pod gets no pods like it. The time doubles with each rejection and ends early if the node changes. */
const rejectionPolicy: BackoffPolicy = { initialMs: 60_000, maxMs: 10 * 60_000 };

/** A node rejected pods of one template at admission. */
interface Rejection {
  /** How often the node rejected them. */
  readonly times: number;
  /** Runs until the node is open again, then until the rejection is forgotten. */
  timer: Timer | undefined;
}

/**
 * The nodes that pods should avoid because bindings failed there.
 * - A Binding failed: after two failures, the pod avoids the node but still goes there if no other node fits. If all nodes have failed,
 *   the pod tries them in turn.
 * - A node did not admit a pod, so it has less capacity than its status shows. No pod with the same template goes there for a while, or until
 *   another pod has left the node.
 */
export class NodeRejections {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #opened: (template: PodTemplate) => void;
  /** uid -> node name -> how often a Binding of the pod to the node has failed */
  readonly #counts = new Map<string, Map<string, number>>();
  /** node name -> pod template -> its rejection */
  readonly #rejections = new Map<string, Map<PodTemplate, Rejection>>();
  /** pod template -> names of the nodes that are closed to its pods now */
  readonly #barred = new Map<PodTemplate, Set<string>>();

  constructor(options: {
    readonly clock: Pick<Clock, 'setTimer'>;
    /** Called when pods of this template may use a node again. No plugin rejected them there, so no queueing hint expects it. */
    readonly opened: (template: PodTemplate) => void;
  }) {
    this.#clock = options.clock;
    this.#opened = options.opened;
  }

  /** Returns true if no node has to be avoided. */
  get isEmpty(): boolean {
    return this.#counts.size === 0 && this.#barred.size === 0;
  }

  /** A Binding of the pod to the node has failed. `siblings`: uids of the members in the same plan, whose nodes are chosen together. */
  failed(uid: string, nodeName: string, siblings: Iterable<string> = []): void {
    const counts = this.#counts.get(uid) ?? new Map<string, number>();
    this.#counts.set(uid, counts);
    const count = (counts.get(nodeName) ?? 0) + 1;
    counts.set(nodeName, count);
    if (count <= maxFailures) return;
    // The plan used a node that the pod avoids, so it avoids all nodes that fit. Forget the failures on the other nodes: they are next in turn.
    for (const each of [uid, ...siblings]) {
      const others = this.#counts.get(each);
      for (const name of others?.keys() ?? []) if (name !== nodeName) others!.delete(name);
    }
  }

  /** The node rejected the pod at admission. */
  notAdmitted(pod: Pod, nodeName: string): void {
    const { template } = pod;
    const byTemplate = this.#rejections.get(nodeName) ?? new Map<PodTemplate, Rejection>();
    this.#rejections.set(nodeName, byTemplate);
    const before = byTemplate.get(template);
    before?.timer?.cancel();
    const rejection: Rejection = { times: (before?.times ?? 0) + 1, timer: undefined };
    byTemplate.set(template, rejection);
    this.#barred.set(template, (this.#barred.get(template) ?? new Set()).add(nodeName));
    rejection.timer = this.#clock.setTimer(backoffDelay(rejectionPolicy, rejection.times), () => {
      this.#open(template, nodeName);
      // The count survives for a while.
      rejection.timer = this.#clock.setTimer(rejectionPolicy.maxMs, () => byTemplate.delete(template));
    });
  }

  /** Returns the names of the nodes that the pod avoids while another one fits. */
  avoidedBy(pod: Pod): readonly string[] {
    const counts = this.#counts.get(pod.uid) ?? [];
    const failing = [...counts].filter(([, count]) => count >= maxFailures).map(([name]) => name);
    return [...failing, ...this.barredFor(pod)];
  }

  /** Returns the names of the nodes that are closed to pods like this one now. */
  barredFor({ template }: Pod): ReadonlySet<string> {
    return this.#barred.get(template) ?? noNodes;
  }

  /** The pod is bound or gone. */
  forget(uid: string): void {
    this.#counts.delete(uid);
  }

  /** The node was deleted, or what scheduling reads of it has changed. It may admit what it rejected before. */
  nodeChanged(nodeName: string): void {
    for (const [template, { timer }] of this.#rejections.get(nodeName) ?? []) {
      timer?.cancel();
      this.#open(template, nodeName);
    }
    this.#rejections.delete(nodeName);
  }

  /** A pod has left the node, which may now admit what it rejected before. The count of rejections remains. */
  capacityFreed(nodeName: string): void {
    for (const template of this.#rejections.get(nodeName)?.keys() ?? []) this.#open(template, nodeName);
  }

  stop(): void {
    for (const byTemplate of this.#rejections.values()) for (const { timer } of byTemplate.values()) timer?.cancel();
  }

  #open(template: PodTemplate, nodeName: string): void {
    const names = this.#barred.get(template);
    if (names?.delete(nodeName) !== true) return;
    if (names.size === 0) this.#barred.delete(template);
    this.#opened(template);
  }
}

const noNodes: ReadonlySet<string> = new Set();
