import { placeExactly } from '../simulation/checks/exact-placement.ts';
import type { PlacementResult } from '../simulation/checks/exact-placement.ts';
import { resourceIndexes, respectedReservations } from './instance.ts';
import type { Instance, InstanceKind } from './instance.ts';

/** Returns a placement of enough members, as kind -> node -> number, or proves that there is none. `maxSteps`: see `placeExactly`. */
export function solveExactly(instance: Instance, maxSteps: number): PlacementResult {
  const { kinds, nodes, members, needed, bound } = instance;
  const conflicts = conflictsOf(instance);
  const reserved = respectedReservations(instance);
  const free = nodes.map(({ allocatable, used }, node) => {
    const boundHere = bound.filter((member) => member.node === node).map(({ kind }) => kinds[kind]!);
    const reservedHere = reserved.filter((reservation) => reservation.node === node);
    return [
      ...resourceIndexes.map((i) => {
        const taken = [...boundHere, ...reservedHere].reduce((sum, { amounts }) => sum + amounts[i], 0);
        return allocatable[i] - used[i] - taken;
      }),
      ...conflicts.map(({ limit, amountOf }) => boundHere.reduce((left, kind) => left - amountOf(kind), limit)),
    ];
  });
  return placeExactly({
    kinds: kinds.map((kind, index) => ({
      count: members.filter((member) => member === index).length,
      amounts: [...kind.amounts, ...conflicts.map(({ amountOf }) => amountOf(kind))],
      mayUse: nodes.map(
        ({ zone, isTainted }) => (kind.zone === undefined || kind.zone === zone) && (!isTainted || kind.toleratesTaint),
      ),
    })),
    free,
    needed,
    maxSteps,
  });
}

/** Something that members on one node compete for, as a resource of the node. */
interface Conflict {
  readonly limit: number;
  readonly amountOf: (kind: InstanceKind) => number;
}

function conflictsOf({ kinds, members, bound }: Instance): Conflict[] {
  const ports = new Set(kinds.flatMap(({ hostPort }) => hostPort ?? []));
  const apart = kinds.filter(({ apartFrom }) => apartFrom === 'kind');
  // A member that must be alone uses as much as all members of the gang.
  const limit = members.length + bound.length;
  return [
    ...[...ports].map((port) => ({ limit: 1, amountOf: ({ hostPort }: InstanceKind) => Number(hostPort === port) })),
    ...apart.map((only) => ({ limit: 1, amountOf: (kind: InstanceKind) => Number(kind === only) })),
    ...(kinds.some(({ apartFrom }) => apartFrom === 'gang')
      ? [{ limit, amountOf: ({ apartFrom }: InstanceKind) => (apartFrom === 'gang' ? limit : 1) }]
      : []),
  ];
}
