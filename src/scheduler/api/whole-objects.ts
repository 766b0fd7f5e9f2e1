import { podPath } from '../../api/pod-path.ts';
import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { WholePod } from '../../framework/extender.ts';

interface RawObject {
  readonly metadata?: { readonly uid?: string; readonly managedFields?: unknown };
}

const attempts = 3;
const callTimeoutMs = 10_000;

/**
 * Whole pods and nodes for extenders; the scheduler itself keeps only a projection. A pod is read when an extender needs it, once per
 * version. Nodes are kept as JSON text from the watch.
 */
export class WholeObjects {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #clock: Clock;
  readonly #random: Random;
  /** pod as the watch delivered it -> the whole pod */
  readonly #pods = new WeakMap<Pod, WholePod>();
  /** node as the watch delivered it -> its JSON */
  readonly #nodes = new WeakMap<Node, string>();

  constructor(options: { readonly client: Pick<KubeClient, 'get'>; readonly clock: Clock; readonly random: Random }) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  async pod(pod: Pod, signal: AbortSignal): Promise<WholePod> {
    const known = this.#pods.get(pod);
    if (known !== undefined) return known;
    const raw = await retry(() => this.#client.get<RawObject>(podPath(pod), { timeoutMs: callTimeoutMs, signal }), {
      clock: this.#clock,
      random: this.#random,
      idempotent: true,
      maxAttempts: attempts,
      signal,
    });
    if (raw.metadata?.uid !== pod.uid) throw new Error('the pod was deleted and recreated');
    const whole = { json: textOf(raw) };
    this.#pods.set(pod, whole);
    return whole;
  }

  keepNode(node: Node, raw: unknown): void {
    this.#nodes.set(node, textOf(raw as RawObject));
  }

  /** Throws if `keepNode` was not called for the node. */
  node(node: Node): string {
    const text = this.#nodes.get(node);
    if (text === undefined) throw new Error('the JSON of a node was not kept');
    return text;
  }
}

/** Removes managedFields, which are often the larger part. */
function textOf(raw: RawObject): string {
  return JSON.stringify({ ...raw, metadata: { ...raw.metadata, managedFields: undefined } });
}
