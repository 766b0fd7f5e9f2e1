/** A kind of random instances. Shares are probabilities from 0 to 1. */
export interface Family {
  readonly name: string;
  /** How many of a run's instances are of this family, relative to the others. */
  readonly weight: number;
  /** Number of nodes, of members to place, and of pod classes among them: from, to. */
  readonly nodes: readonly [number, number];
  readonly members: readonly [number, number];
  readonly kinds: readonly [number, number];
  /** Free amount of the scarcest resource beyond what the needed members request, as a share of the latter: from, to. */
  readonly slack: readonly [number, number];
  /** Fewer members are needed than there are. */
  readonly isElastic?: true;
  /** Pod classes request much CPU and little memory, or the reverse. */
  readonly isOpposite?: true;
  /** Share of the pod classes that have the feature. */
  readonly hostPorts?: number;
  readonly nodeSelectors?: number;
  readonly antiAffinity?: number;
  readonly tolerations?: number;
  /** Maximum number of members that are bound already. */
  readonly bound?: number;
  /** Maximum number of pods of others for which capacity is reserved. */
  readonly reservations?: number;
}

const mixed = { weight: 2, nodes: [2, 8], members: [3, 12], kinds: [2, 4], slack: [0.1, 1] } as const;
const tight = [0, 0.1] as const;

/** Each family draws from its own random source: adding or removing one changes no instance of the others. */
export const families: readonly Family[] = [
  { ...mixed, name: 'one kind', weight: 1, kinds: [1, 1] },
  { ...mixed, name: 'mixed' },
  { ...mixed, name: 'mixed and tight', slack: tight },
  { ...mixed, name: 'elastic', isElastic: true },
  { ...mixed, name: 'elastic and tight', slack: tight, isElastic: true },
  { ...mixed, name: 'opposite resources', slack: [0, 0.4], isOpposite: true },
  { ...mixed, name: 'host ports', hostPorts: 0.5 },
  { ...mixed, name: 'node selectors', nodeSelectors: 0.5 },
  { ...mixed, name: 'anti-affinity', antiAffinity: 0.5 },
  { ...mixed, name: 'taints', tolerations: 0.5 },
  { ...mixed, name: 'bound members', bound: 3 },
  { ...mixed, name: 'reservations', reservations: 3 },
];
