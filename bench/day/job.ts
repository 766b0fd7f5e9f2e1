/** Size classes, by number of members. */
export const sizeClasses = ['small', 'medium', 'large'] as const;
export type SizeClass = (typeof sizeClasses)[number];

/** A gang of identical members, or a single pod, that a user submits. Times are in milliseconds from the start of the day. */
export interface Job {
  readonly id: number;
  readonly class: SizeClass;
  readonly submittedAt: number;
  readonly members: number;
  /** GPUs of each member. */
  readonly gpus: number;
  /** From the start of the whole gang until all members end. */
  readonly runtimeMs: number;
  /** The run time that its user declares. */
  readonly declaredMs: number;
}

export const cluster = { nodes: 512, gpusPerNode: 8 } as const;
export const clusterGpus = cluster.nodes * cluster.gpusPerNode;
