import type { Pod, PodTemplate } from '../../api/pod.ts';
import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { DueTimes } from '../../base/due-times.ts';

/** After this many failed bindings of a pod to a node, the pod avoids the node while another one fits. */
const maxFailures = 2;

/** How long a node that rejected a pod gets no pods like it. The time doubles with each rejection and ends early if the node changes. */
const rejectionPolicy: BackoffPolicy = { initialMs: 60_000, maxMs: 10 * 60_000 };

/** A node rejected pods of one namespace and template at admission. */
interface Rejection {
  readonly nodeName: string;
  readonly namespace: string;
  readonly template: PodTemplate;
  /** How often the node rejected them. */
  times: number;
}

/**
 * The nodes that pods should avoid because bindings failed there.
 * - A Binding failed: after two failures, the pod avoids the node but still goes there if no other node fits. If all nodes have failed,
 *   the pod tries them in turn.
 * - A node did not admit a pod, so it has less capacity than its status shows. No pod of the same namespace and template goes there for a
 *   while, or until another pod has left the node. Other namespaces may: users can write pods that every node rejects for something that is
 *   no part of the template, such as a forbidden sysctl.
 */
export class NodeRejections {
  readonly #clock: Clock;
  readonly #opened: (template: PodTemplate) => void;
  /** uid -> node name -> how often a Binding of the pod to the node has failed */
  readonly #counts = new Map<string, Map<string, number>>();
  /** node name -> pod template -> namespace -> its rejection */
  readonly #rejections = new Map<string, Map<PodTemplate, Map<string, Rejection>>>();
  /** pod template -> namespace -> names of the nodes that are closed to its pods now */
  readonly #barred = new Map<PodTemplate, Map<string, Set<string>>>();
  /** rejection -> what happens next: its node opens; a while later, it is forgotten with its count */
  readonly #due: DueTimes<Rejection, 'open' | 'forget'>;

  constructor(options: {
    readonly clock: Clock;
    /** Called when pods of this template may use a node again. No plugin rejected them there, so no queueing hint expects it. */
    readonly opened: (template: PodTemplate) => void;
  }) {
    this.#clock = options.clock;
    this.#opened = options.opened;
    this.#due = new DueTimes(options.clock, (rejection, step) => {
      if (step === 'forget') {
        this.#forget(rejection);
        return;
      }
      this.#open(rejection);
      this.#due.set(rejection, this.#clock.monotonic() + rejectionPolicy.maxMs, 'forget');
    });
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
    const { namespace, template } = pod;
    const byTemplate = this.#rejections.get(nodeName) ?? new Map<PodTemplate, Map<string, Rejection>>();
    this.#rejections.set(nodeName, byTemplate);
    const byNamespace = byTemplate.get(template) ?? new Map<string, Rejection>();
    byTemplate.set(template, byNamespace);
    const rejection = byNamespace.get(namespace) ?? { nodeName, namespace, template, times: 0 };
    byNamespace.set(namespace, rejection);
    rejection.times++;
    const barred = this.#barred.get(template) ?? new Map<string, Set<string>>();
    this.#barred.set(template, barred.set(namespace, (barred.get(namespace) ?? new Set()).add(nodeName)));
    this.#due.set(rejection, this.#clock.monotonic() + backoffDelay(rejectionPolicy, rejection.times), 'open');
  }

  /** Returns the names of the nodes that the pod avoids while another one fits. */
  avoidedBy(pod: Pod): readonly string[] {
    const counts = this.#counts.get(pod.uid) ?? [];
    const failing = [...counts].filter(([, count]) => count >= maxFailures).map(([name]) => name);
    return [...failing, ...this.barredFor(pod)];
  }

  /** Returns the names of the nodes that are closed to pods like this one now. */
  barredFor({ namespace, template }: Pod): ReadonlySet<string> {
    return this.#barred.get(template)?.get(namespace) ?? noNodes;
  }

  /** Returns the pods' namespace if nodes have not admitted pods like them, which counts for that namespace only. */
  barredNamespace(pods: readonly Pod[]): string | undefined {
    if (this.isEmpty) return undefined;
    return pods.find((pod) => this.barredFor(pod).size > 0)?.namespace;
  }

  /** The pod is bound or gone. */
  forget(uid: string): void {
    this.#counts.delete(uid);
  }

  /** The node was deleted, or what scheduling reads of it has changed. It may admit what it rejected before. */
  nodeChanged(nodeName: string): void {
    for (const rejection of this.#rejectionsOf(nodeName)) {
      this.#due.delete(rejection);
      this.#open(rejection);
    }
    this.#rejections.delete(nodeName);
  }

  /** A pod has left the node, which may now admit what it rejected before. The count of rejections remains. */
  capacityFreed(nodeName: string): void {
    for (const rejection of this.#rejectionsOf(nodeName)) this.#open(rejection);
  }

  stop(): void {
    this.#due.stop();
  }

  *#rejectionsOf(nodeName: string): Iterable<Rejection> {
    for (const byNamespace of this.#rejections.get(nodeName)?.values() ?? []) yield* byNamespace.values();
  }

  #forget({ nodeName, namespace, template }: Rejection): void {
    const byTemplate = this.#rejections.get(nodeName)!;
    const byNamespace = byTemplate.get(template)!;
    byNamespace.delete(namespace);
    if (byNamespace.size === 0) byTemplate.delete(template);
    if (byTemplate.size === 0) this.#rejections.delete(nodeName);
  }

  #open({ nodeName, namespace, template }: Rejection): void {
    const barred = this.#barred.get(template);
    const names = barred?.get(namespace);
    if (names?.delete(nodeName) !== true) return;
    if (names.size === 0) barred!.delete(namespace);
    if (barred!.size === 0) this.#barred.delete(template);
    this.#opened(template);
  }
}

const noNodes: ReadonlySet<string> = new Set();
