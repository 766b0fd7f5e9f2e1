import type { Call } from '../world/call.ts';
import type { Checker, Evidence } from './evidence.ts';
import { PlainCapacity } from './plain-fit.ts';
import { isOnNode, plainNode, plainPod } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';
import { podsIn } from './plain-group.ts';

/** Nobody waits longer for the answer to a Binding. */
const patienceMs = 10_000;

/**
 * I3 when a Binding has been carried out: nothing on its node is asked for beyond what the node has. Excused: what the sender could not
 * know, because it happened in the store and had not reached it when it sent; and Bindings that were carried out after their sender had
 * died, or had given them up and then read the pod as unbound: no client can take those back.
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
      return this.#evidence.excused('over-committed: the node had changed, unknown to the sender');
    for (const pod of there) {
      const reason = this.#unknownTo(call, pod);
      if (reason !== undefined) return this.#evidence.excused(reason);
    }
    const names = there.map(({ name }) => name).join(', ');
    this.#evidence.violated(
      'I3',
      `${call.process.name} bound ${metadata.name} to ${target.name}, which has ${excess} taken then (${names})`,
    );
  }

  /** Nobody can take it back: whoever sent it is gone or stopped, or was told that the pod is unbound. */
  #isOutOfReach({ process, request, isGivenUp, sentAt, doneAt }: Call): boolean {
    // It would have given it up by now.
    if (process.isPaused && doneAt! - sentAt > patienceMs) return true;
    if (!isGivenUp || !process.isAlive) return isGivenUp;
    const readAt = this.#reads.get(`${process.name} ${request.path.replace(/\/binding$/, '')}`);
    return readAt !== undefined && readAt > sentAt;
  }

  /** Why the sender could not know that the pod takes up that room; undefined: it could. */
  #unknownTo(call: Call, pod: PlainPod): string | undefined {
    const { record } = this.#evidence;
    const binding = this.#bindings.get(pod.uid);
    const object = record.get('pods', pod.key, call.views.at(-1)!.pods);
    const known = object && plainPod(object);
    const isTold = known?.uid === pod.uid && known.node === pod.node;
    if (binding !== undefined && this.#isOutOfReach(binding) && (binding.doneAt! >= call.sentAt || !isTold)) {
      return 'over-committed by a Binding that was carried out after it was given up';
    }
    // What it has bound itself it need not be told of.
    const isKnownThere = isTold || (known?.uid === pod.uid && binding?.process === call.process);
    if (isKnownThere) {
      const isGrown = pod.milliCpu > known.milliCpu || pod.mebibytes > known.mebibytes;
      return isGrown ? 'over-committed: a pod had been resized, unknown to the sender' : undefined;
    }
    if (binding === undefined) return 'over-committed: another scheduler had bound a pod, unknown to the sender';
    if (binding.process === call.process) return undefined;
    return binding.isGivenUp
      ? 'over-committed by a Binding of a former leader that nobody had been told of'
      : undefined;
  }
}
