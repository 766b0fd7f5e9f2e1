/** A gang and the nodes on which it is placed, as plain data. No code of the product reads it. */
export interface Instance {
  readonly family: string;
  readonly seed: number;
  readonly nodes: readonly InstanceNode[];
  readonly kinds: readonly InstanceKind[];
  /** member -> its kind, in order of arrival */
  readonly members: readonly number[];
  /** How many of the members need a node. */
  readonly needed: number;
  /** Further members, which are bound. */
  readonly bound: readonly { readonly kind: number; readonly node: number }[];
  readonly reservations: readonly InstanceReservation[];
}

/** CPU in millicores, memory in MiB, GPUs. */
export type ResourceAmounts = readonly [number, number, number];

export interface InstanceNode {
  readonly allocatable: ResourceAmounts;
  /** What pods of others use. */
  readonly used: ResourceAmounts;
  readonly zone: string | undefined;
  /** Takes only pods that tolerate its taint. */
  readonly isTainted: boolean;
}

/** What identical members have in common. */
export interface InstanceKind {
  readonly amounts: ResourceAmounts;
  readonly hostPort: number | undefined;
  /** The only zone for its members. */
  readonly zone: string | undefined;
  readonly toleratesTaint: boolean;
  /** Members share no node with other members of this kind, or of the gang. */
  readonly apartFrom: 'kind' | 'gang' | undefined;
}

/** Capacity that is reserved on a node for a pod of others. */
export interface InstanceReservation {
  readonly node: number;
  readonly amounts: ResourceAmounts;
  readonly priority: number;
}

export const resourceIndexes = [0, 1, 2] as const;
export const gangPriority = 5;

/** Returns the reservations that the gang must respect: those of equal or higher priority. */
export function respectedReservations({ reservations }: Instance): readonly InstanceReservation[] {
  return reservations.filter(({ priority }) => priority >= gangPriority);
}
