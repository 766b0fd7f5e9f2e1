import type { Node } from '../api/node.ts';
import type { PodBinding } from './plugin-handle.ts';

/** The whole pod as the API has it, which the scheduler itself does not keep. */
export interface WholePod {
  /** One JSON object. */
  readonly json: string;
}

/** What an extender says of the nodes that it was asked about. */
export interface ExtenderFilterResult {
  /** Names of the nodes that it leaves; only such as it was asked about. */
  readonly passed: ReadonlySet<string>;
  /** node name -> why not */
  readonly failed: ReadonlyMap<string, string>;
  /** As `failed`, for nodes where taking other pods away would not help; stands before it. */
  readonly unresolvable: ReadonlyMap<string, string>;
}

/**
 * Somebody outside this process who has a say in scheduling, in kube-scheduler's terms. Every method ends in bounded time,
 * with the signal's reason when that aborts, and rejects for whatever keeps an answer from coming.
 */
export interface Extender {
  /** For messages: where it is. */
  readonly name: string;
  /** Pods are scheduled without it when it fails. */
  readonly isIgnorable: boolean;
  /** Pods that request none of these resources are not its business; empty: all pods are. */
  readonly managedResources: readonly string[];
  /** Multiplies what `prioritize` answers. */
  readonly weight: number;
  /** Which of these nodes may the pod run on? */
  filter?(pod: WholePod, nodes: readonly Node[], signal: AbortSignal): Promise<ExtenderFilterResult>;
  /** How good are these nodes, from 0 to 10? node name -> score; a node that is not in it has 0. */
  prioritize?(pod: WholePod, nodes: readonly Node[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /** Binds the pod; resolves when the API server shows it on the node. */
  bind?(binding: PodBinding, signal: AbortSignal): Promise<void>;
}
