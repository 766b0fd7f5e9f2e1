/** A kind of random instances. Shares are probabilities from 0 to 1. */
export interface Family {
  readonly name: string;
  /** Number of members of the preemptor, and of pod classes among them: from, to. Absent: the preemptor is a pod without a group. */
  readonly members?: readonly [number, number];
  readonly kinds?: readonly [number, number];
  /** Fewer members are needed than there are. */
  readonly isElastic?: true;
  /** Members of one group have different priorities. */
  readonly mixesPriorities?: true;
  /** Share of the pods that are terminating. */
  readonly terminating?: number;
  /** Shares of the pods that have the feature. */
  readonly hostPorts?: number;
  readonly antiAffinity?: number;
  /** Share of the nodes that have a taint. */
  readonly taints?: number;
  /** Maximum numbers of members of the preemptor's group that are bound, or terminating. */
  readonly bound?: number;
  readonly ownTerminating?: number;
  /** Maximum number of pods of others for which capacity is reserved. */
  readonly reservations?: number;
  readonly budgets?: number;
}

const gang = { members: [1, 5] } as const;

/** Each family draws from its own random source: adding or removing one changes no instance of the others. */
export const families: readonly Family[] = [
  { name: 'pod' },
  { name: 'pod, host ports', hostPorts: 0.6 },
  { name: 'pod, anti-affinity', antiAffinity: 0.6 },
  { name: 'pod, budgets', budgets: 2 },
  { name: 'pod, all features', ...all({ hostPorts: 0.3, antiAffinity: 0.3 }) },
  { ...gang, name: 'gang' },
  { ...gang, name: 'gang, several kinds', members: [2, 5], kinds: [2, 3] },
  { ...gang, name: 'gang, elastic', members: [2, 5], isElastic: true },
  { ...gang, name: 'gang, mixed priorities', kinds: [1, 2], mixesPriorities: true },
  { ...gang, name: 'gang, terminating pods', terminating: 0.3 },
  { ...gang, name: 'gang, host ports', hostPorts: 0.5 },
  { ...gang, name: 'gang, anti-affinity', antiAffinity: 0.5 },
  { ...gang, name: 'gang, taints', taints: 0.5 },
  { ...gang, name: 'gang, reservations', reservations: 2 },
  { ...gang, name: 'gang, budgets', budgets: 2 },
  { ...gang, name: 'gang, own members', bound: 2, ownTerminating: 2 },
  { ...gang, name: 'gang, all features', kinds: [1, 2], ...all({ hostPorts: 0.2, antiAffinity: 0.2, bound: 1 }) },
];

function all(more: Partial<Family>): Partial<Family> {
  return { terminating: 0.1, taints: 0.2, reservations: 1, budgets: 1, ...more };
}
