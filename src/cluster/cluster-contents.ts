import type { Pod } from '../api/pod.ts';
import { AmountColumns } from './amount-columns.ts';
import { ClaimsInUse } from './claims-in-use.ts';
import { ClusterNodes } from './cluster-nodes.ts';
import type { GenerationCounter } from './generation-counter.ts';
import type { PodChangeLog } from './node-info.ts';
import { PlacedPods } from './placed-pods.ts';
import { RequestedByPriority } from './requested-by-priority.ts';
import type { TieBreaks } from './tie-breaks.ts';

export interface ClusterContentsOptions {
  readonly counter: GenerationCounter;
  /** Returns all known pods, on these nodes or not. */
  readonly pods: () => Iterable<Pod>;
  /** First version of `placed`. Two contents never share a version. */
  readonly firstVersion: number;
  readonly ties: TieBreaks | undefined;
}

/** The nodes with the pods on them, and indexes of these pods. */
export class ClusterContents {
  readonly nodes: ClusterNodes;
  /** The pods on nodes, by class. */
  readonly placed: PlacedPods;
  /** Claims in use by pods on nodes. Counting starts on first use. */
  readonly claimsInUse: ClaimsInUse;
  /** Allocatable and requested amounts of the nodes, in columns. */
  readonly amounts: AmountColumns;
  /** Requested amounts of the nodes, by priority. */
  readonly requestedByPriority: RequestedByPriority;

  /** True while a transaction may still revert changes. */
  isPlanning = false;

  constructor({ counter, pods, firstVersion, ties }: ClusterContentsOptions) {
    this.placed = new PlacedPods(() => this.nodes.all(), firstVersion);
    this.claimsInUse = new ClaimsInUse(() => this.nodes.all(), pods);
    const log: PodChangeLog = {
      added: (node, added) => {
        this.placed.added(node, added);
        if (!this.isPlanning) this.placed.settle();
        this.claimsInUse.added(node, added);
      },
      removed: (node, removed) => {
        this.placed.removed(node, removed);
        if (!this.isPlanning) this.placed.settle();
        this.claimsInUse.removed(node, removed);
      },
    };
    this.nodes = new ClusterNodes(counter, log, ties);
    this.amounts = new AmountColumns(this.nodes);
    this.requestedByPriority = new RequestedByPriority(this.nodes);
  }
}
