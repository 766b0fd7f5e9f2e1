import type { Call } from '../world/call.ts';
import type { Checker, Evidence } from './evidence.ts';
import { PlainCapacity } from './plain-fit.ts';
import { isOnNode, plainNode, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { podsIn } from './plain-group.ts';

/** Maximum time that a client waits for the response to a Binding. */
const patienceMs = 10_000;

/**
 * I3, when a Binding has been carried out: the requests on its node do not exceed what the node has. Two cases are excused. The Binding was
 * carried out after its sender died, or after the sender gave it up and then read the pod as unbound: no client can take that back. Or the
 * node does not exceed what it has by what the sender knew when it sent the Binding: the node, the pods there and their sizes. Pods that it
 * did not know excuse only their own part.
 */
export class OverCommitChecker implements Checker {
  readonly #evidence: Evidence;
  /** uid -> the call that bound the pod */
  readonly #bindings = new Map<string, Call>();
  /** process name and path of a pod -> when the process last read it */
  readonly #reads = new Map<string, number>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  done(call: Call): void {
    if (call.of === 'read' && call.status === 200)
      this.#reads.set(`${call.process.name} ${call.request.path}`, call.doneAt!);
    if (call.of !== 'bind' || call.status! >= 300) return;
    const { record } = this.#evidence;
    const { metadata, target } = JSON.parse(String(call.request.body));
    const bound = record.get('pods', `${metadata.namespace}/${metadata.name}`);
    if (bound !== undefined) this.#bindings.set(plainPod(bound).uid, call);
    const node = record.get('nodes', `/${target.name}`);
    if (node === undefined) return;
    const there = podsIn(record).filter((pod) => isOnNode(pod) && pod.node === target.name);
    const excess = new PlainCapacity(
      [plainNode(node)],
      there.map((pod) => [pod, pod.node] as const),
    ).excess(target.name);
    if (excess === undefined) return;
    if (this.#isOutOfReach(call))
      return this.#evidence.excused('over-committed by a Binding that was carried out after it was given up');
    const excuses = call.views.map((view) => this.#excuse(call, view, there));
    const excuse = excuses.find((reason) => reason !== undefined);
    if (excuse !== undefined) return this.#evidence.excused(excuse);
    const names = there.map(({ name }) => name).join(', ');
    this.#evidence.violated(
      'I3',
      `${call.process.name} bound ${metadata.name} to ${target.name}, which then has ${excess} in use (${names})`,
    );
  }

  /** Reports whether no process can take the Binding back: its sender is gone or stopped, or has read the pod as unbound. */
  #isOutOfReach({ process, request, isGivenUp, sentAt, doneAt }: Call): boolean {
    // A running sender would have given it up by now.
    if (process.isPaused && doneAt! - sentAt > patienceMs) return true;
    if (!isGivenUp || !process.isAlive) return isGivenUp;
    const readAt = this.#reads.get(`${process.name} ${request.path.replace(/\/binding$/, '')}`);
    return readAt !== undefined && readAt > sentAt;
  }

  /** Returns why the node is not over-committed by what the sender knew in this view; undefined: it is. */
  #excuse(call: Call, view: Call['seen'], there: readonly PlainPod[]): string | undefined {
    const { metadata, target } = JSON.parse(String(call.request.body));
    const { record } = this.#evidence;
    const node = record.get('nodes', `/${target.name}`, view.nodes);
    if (node === undefined) return 'over-committed: the sender had not seen a change of the node';
    const reasons: string[] = [];
    const known = there.flatMap((pod): (readonly [PlainPod, string])[] => {
      const isOwn = pod.key === `${metadata.namespace}/${metadata.name}`;
      const reason = isOwn ? undefined : this.#unknownTo(call, view, pod);
      if (reason === undefined) return [[pod, pod.node]];
      reasons.push(reason.why);
      return reason.known === undefined ? [] : [[reason.known, pod.node]];
    });
    if (new PlainCapacity([plainNode(node)], known).excess(target.name) !== undefined) return undefined;
    return reasons[0] ?? 'over-committed: the sender had not seen a change of the node';
  }

  /** Returns why the sender could not know that the pod uses this capacity, and what it knew of the pod; undefined: it could know. */
  #unknownTo(
    call: Call,
    view: Call['seen'],
    pod: PlainPod,
  ): { readonly why: string; readonly known?: PlainPod } | undefined {
    const { record } = this.#evidence;
    const binding = this.#bindings.get(pod.uid);
    const object = record.get('pods', pod.key, view.pods);
    const known = object && plainPod(object);
    const isSeen = known?.uid === pod.uid && known.node === pod.node;
    if (binding !== undefined && this.#isOutOfReach(binding) && (binding.doneAt! >= call.sentAt || !isSeen)) {
      return { why: 'over-committed by a Binding that was carried out after it was given up' };
    }
    // A process needs no event for pods that it bound itself.
    const isKnownThere = isSeen || (known?.uid === pod.uid && binding?.process === call.process);
    if (isKnownThere) {
      const isGrown = pod.milliCpu > known.milliCpu || pod.mebibytes > known.mebibytes;
      return isGrown ? { why: 'over-committed: the sender had not seen the resize of a pod', known } : undefined;
    }
    if (binding === undefined)
      return { why: 'over-committed: the sender had not seen a pod that another scheduler bound' };
    if (binding.process === call.process) return undefined;
    return binding.isGivenUp
      ? { why: 'over-committed by a Binding of a former leader that the sender had not seen' }
      : undefined;
  }
}
