/** Amounts of one resource: `cpu` in cores, others in their own unit. */
export interface NodeResource {
  readonly allocatable: number;
  /** Requested by the pods on the node, planned ones included. */
  readonly used: number;
  /** Kept for pods that are not on the node. */
  readonly reserved: number;
}

/** A part of a node's scarcest resource. Both numbers are shares of what is allocatable, from 0 to 1, and more if the node is over-committed. */
export interface NodeShare {
  /** Key of the entity. Absent: all pods together that are in no lane, such as those of other schedulers. */
  readonly entity?: string;
  readonly used: number;
  readonly reserved: number;
}

/** A node and who uses it. */
export interface TimelineNode {
  readonly name: string;
  /** `Cordoned`: it takes no new pods. `NotReady`: it is not ready or unreachable. `Gone`: deleted, but pods name it still. */
  readonly state: 'Ready' | 'Cordoned' | 'NotReady' | 'Gone' | 'Unknown';
  /** resource -> amounts; those that the node has, apart from `pods` */
  readonly resources: Readonly<Record<string, NodeResource>>;
  /** The resource of which the largest share is used or reserved; absent: the node has none. `shares` divide it. */
  readonly scarcest?: string;
  /** The largest first. */
  readonly shares: readonly NodeShare[];
}
