import type { Node } from '../api/node.ts';
import type { PodBinding } from './plugin-handle.ts';

/** The complete pod as the API server returns it. The scheduler itself keeps only the fields it needs. */
export interface WholePod {
  /** One JSON object. */
  readonly json: string;
}

/** An extender's response to a Filter request. */
export interface ExtenderFilterResult {
  /** Names of the nodes that pass; a subset of the requested nodes. */
  readonly passed: ReadonlySet<string>;
  /** node name -> reason */
  readonly failed: ReadonlyMap<string, string>;
  /** Like `failed`, for nodes where preemption cannot help. Takes precedence over `failed`. */
  readonly unresolvable: ReadonlyMap<string, string>;
}

/**
 * A kube-scheduler extender. Every method settles in bounded time. It rejects with the signal's reason when the signal aborts, and
 * with an error when the extender returns no usable response.
 */
export interface Extender {
  /** Address of the extender, for messages. */
  readonly name: string;
  /** True: when the extender fails, the scheduler continues without it. */
  readonly isIgnorable: boolean;
  /** Resources the extender manages. It is called only for pods that request at least one of them; empty: for all pods. */
  readonly managedResources: readonly string[];
  /** Multiplies the scores of `prioritize`. */
  readonly weight: number;
  /** Returns which of these nodes may run the pod. */
  filter?(pod: WholePod, nodes: readonly Node[], signal: AbortSignal): Promise<ExtenderFilterResult>;
  /** Scores these nodes from 0 to 10. Returns node name -> score; missing nodes score 0. */
  prioritize?(pod: WholePod, nodes: readonly Node[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /** Binds the pod. Resolves once the API server shows the pod on the node. */
  bind?(binding: PodBinding, signal: AbortSignal): Promise<void>;
}
