import type { Call } from '../world/call.ts';
import type { Checker, Evidence } from './evidence.ts';
import { PlainCapacity } from './plain-fit.ts';
import { isOnNode, plainNode, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { podsIn } from './plain-group.ts';

/** Maximum time that a client waits for the response to a Binding. */
const patienceMs = 10_000;

/**
 * I3, when a Binding has been carried out: the requests on its node do not exceed what the node has. Two cases are excused. Changes in the
 * store had not reached the sender when it sent the Binding. Or the Binding was carried out after its sender died, or after the sender gave it
 * up and then read the pod as unbound. No client can take those back.
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
    if (plainNode(node).version > call.views.at(-1)!.nodes)
      return this.#evidence.excused('over-committed: the sender had not seen a change of the node');
    for (const pod of there) {
      const reason = this.#unknownTo(call, pod);
      if (reason !== undefined) return this.#evidence.excused(reason);
    }
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

  /** Returns why the sender could not know that the pod uses this capacity; undefined: it could know. */
  #unknownTo(call: Call, pod: PlainPod): string | undefined {
    const { record } = this.#evidence;
    const binding = this.#bindings.get(pod.uid);
    const object = record.get('pods', pod.key, call.views.at(-1)!.pods);
    const known = object && plainPod(object);
    const isSeen = known?.uid === pod.uid && known.node === pod.node;
    if (binding !== undefined && this.#isOutOfReach(binding) && (binding.doneAt! >= call.sentAt || !isSeen)) {
      return 'over-committed by a Binding that was carried out after it was given up';
    }
    // A process needs no event for pods that it bound itself.
    const isKnownThere = isSeen || (known?.uid === pod.uid && binding?.process === call.process);
    if (isKnownThere) {
      const isGrown = pod.milliCpu > known.milliCpu || pod.mebibytes > known.mebibytes;
      return isGrown ? 'over-committed: the sender had not seen the resize of a pod' : undefined;
    }
    if (binding === undefined) return 'over-committed: the sender had not seen a pod that another scheduler bound';
    if (binding.process === call.process) return undefined;
    return binding.isGivenUp
      ? 'over-committed by a Binding of a former leader that the sender had not seen'
      : undefined;
  }
}
