import type { StoreRecord } from '../world/record.ts';
import type { Evidence } from './evidence.ts';
import { formOf, PlainCapacity } from './plain-fit.ts';
import type { PlainSurroundings } from './plain-fit.ts';
import { groupNamed, missingOf, podsIn } from './plain-group.ts';
import { groupObjectOf, isGroupResource, isOnNode, isOpen, plainGroup, plainPod } from './plain-objects.ts';
import type { PlainNode, PlainPod, PlainPrediction } from './plain-objects.ts';

/** An entity for which capacity is reserved until its predicted start: one of its waiting pods shows the prediction. */
export interface PlainTurn {
  /** See `entityOf`. */
  readonly entity: string;
  readonly waiting: readonly PlainPod[];
  /** How many of them it needs at least. */
  readonly needed: number;
  readonly priority: number;
  readonly prediction: PlainPrediction;
}

const groupPrefix = 'group ';

/** Returns the name of the pod's entity: that of its group, or namespace/name of a pod without one, or in one whose pods start one by one. */
export function entityOf(record: StoreRecord, { group, key }: PlainPod): string {
  return group === undefined || hasSingles(record, group) ? key : `${groupPrefix}${group}`;
}

/** Returns the name of the group that the entity is; undefined: it is a pod. */
export function groupOfEntity(entity: string): string | undefined {
  return entity.startsWith(groupPrefix) ? entity.slice(groupPrefix.length) : undefined;
}

/** Reports whether the pods of the group start one by one, or did so while it existed. */
function hasSingles(record: StoreRecord, name: string): boolean {
  const { resource, key } = groupObjectOf(name);
  const object = resource === 'podgroups' ? undefined : record.getOrLast(resource, key);
  return object !== undefined && plainGroup(object).minMember === 0;
}

/** What shows the turns. */
type Shown = Pick<Evidence, 'record' | 'started'>;

/** Returns the turns of the entity, as the store shows them now. Each member beyond the quorum of a group may have one of its own. */
export function turnsOf(
  { record, started }: Shown,
  entity: string,
  pods: readonly PlainPod[] = podsIn(record),
): readonly PlainTurn[] {
  const waiting = pods.filter((pod) => entityOf(record, pod) === entity && isOpen(pod));
  const shown = waiting.filter(({ predicted }) => predicted !== undefined);
  if (shown.length === 0) return [];
  const [{ group: name }] = waiting as [PlainPod];
  const group = name === undefined ? undefined : groupNamed(record, name);
  const needed = group === undefined ? 1 : missingOf(group, pods, started);
  const turnWith = (members: readonly PlainPod[], { predicted }: PlainPod): PlainTurn => ({
    ...{ entity, waiting: members, needed: Math.max(1, needed), prediction: predicted! },
    priority: Math.min(...members.map(({ priority }) => priority)),
  });
  return needed > 0 ? [turnWith(waiting, shown[0]!)] : shown.map((pod) => turnWith([pod], pod));
}

export function turnsIn(shown: Shown, pods: readonly PlainPod[] = podsIn(shown.record)): PlainTurn[] {
  const entities = new Set(
    pods.flatMap((pod) => (pod.predicted !== undefined && isOpen(pod) ? [entityOf(shown.record, pod)] : [])),
  );
  return [...entities].flatMap((entity) => turnsOf(shown, entity, pods));
}

/** Returns the turns that the waiting pods may have to respect. They belong to one group, or are one pod without a group. */
export function respectedTurns(
  shown: Shown,
  waiting: readonly PlainPod[],
  pods: readonly PlainPod[],
): readonly PlainTurn[] {
  return turnsIn(shown, pods).filter((turn) => !isAhead(shown, waiting, turn, pods));
}

/** Reports whether the waiting pods certainly do not respect the turn: it is their own, or that of an entity behind them. */
function isAhead(
  { record, started }: Shown,
  waiting: readonly PlainPod[],
  { entity, priority, waiting: holders }: PlainTurn,
  pods: readonly PlainPod[],
): boolean {
  const [first] = waiting as [PlainPod];
  const lowest = Math.min(...waiting.map((pod) => pod.priority));
  if (holders.some(({ uid }) => uid === first.uid) || lowest > priority) return true;
  // A member beyond the quorum has a rank of its own.
  const group = first.group === undefined ? undefined : groupNamed(record, first.group);
  const isExtra = group !== undefined && missingOf(group, pods, started) <= 0;
  if (lowest < priority || isExtra) return false;
  const [ready, holderReady] = [readyTimes(record, entityOf(record, first)), readyTimes(record, entity)];
  return ready !== undefined && holderReady !== undefined && ready.latest + aheadMs < holderReady.earliest;
}

/** Where capacity may be reserved for turns. */
export interface TurnNodes {
  readonly nodes: readonly PlainNode[];
  readonly pods: readonly PlainPod[];
  readonly surroundings: PlainSurroundings;
  /** True: each zone is a pool. False: the cluster is one. */
  readonly areZonesPools: boolean;
}

/** An entity that became ready so much earlier than another is ahead of it. */
export const aheadMs = 2_000;
/** How many placements are tried at most. */
const mostPlacements = 3_000;

type Placed = readonly (readonly [PlainPod, string])[];

/**
 * Reports whether there are nodes for the members that the turns need, as if no other pods were there, so that `isBlocked` reports true of
 * them. Each turn is in one pool. Reports true if there are too many cases.
 */
export function mayBlock(
  turns: readonly PlainTurn[],
  { nodes, pods, surroundings, areZonesPools }: TurnNodes,
  isBlocked: (placed: Placed) => boolean,
): boolean {
  let left = mostPlacements;
  const tried = new Set<string>();
  interface Place {
    readonly turn: number;
    /** Position among the waiting members of the turn. */
    readonly member: number;
    /** How many of them must still be placed. */
    readonly missing: number;
    /** First node for a member that is like the last one. */
    readonly from: number;
    readonly placed: Placed;
    readonly pool: string | undefined;
  }
  const place = (at: Place): boolean => {
    const { turn, member, missing, from, placed, pool } = at;
    const current = turns[turn];
    if (current === undefined) {
      const state = placed
        .map(([pod, node]) => `${formOf(pod)} ${node}`)
        .sort()
        .join();
      if (tried.has(state)) return false;
      tried.add(state);
      return left-- <= 0 || isBlocked(placed);
    }
    if (missing === 0) return placeTurn(turn + 1, placed);
    if (current.waiting.length - member < missing) return false;
    const pod = current.waiting[member]!;
    const isLikeLast = member > 0 && formOf(current.waiting[member - 1]!) === formOf(pod);
    // As if the members placed so far were bound: the next ones may have to be near them.
    const there = placed.map(([each, node]) => [{ ...each, node }, node] as const);
    const group = groupOfEntity(current.entity);
    const own = group === undefined ? [] : pods.filter((each) => isOnNode(each) && each.group === group);
    const all = [...own.map((each) => [each, each.node] as const), ...there];
    const empty = new PlainCapacity(nodes, all, surroundings);
    const isPlaced = nodes.some(({ name, zone }, index) => {
      if (isLikeLast && index < from) return false;
      if (areZonesPools && (zone === undefined || (pool !== undefined && zone !== pool))) return false;
      if (!empty.takes(pod, name)) return false;
      return place({
        ...at,
        member: member + 1,
        missing: missing - 1,
        from: index,
        placed: [...placed, [pod, name]],
        pool: zone,
      });
    });
    // Or others of the members are those that it needs. Those like this one stay out as well.
    return isPlaced || place({ ...at, member: member + 1, from: Infinity });
  };
  const placeTurn = (turn: number, placed: Placed): boolean =>
    place({ turn, member: 0, missing: turns[turn]?.needed ?? 0, from: 0, placed, pool: undefined });
  return placeTurn(0, []);
}

/**
 * Returns the earliest and the latest time at which the entity may have become ready: when enough of all members that it ever had existed,
 * and when the last object of it was created. Undefined: its quorum, its labels or its gates changed.
 */
export function readyTimes(
  record: StoreRecord,
  entity: string,
): { readonly earliest: number; readonly latest: number } | undefined {
  const ownGroup = groupOfEntity(entity);
  const pod = ownGroup === undefined ? record.get('pods', entity) : undefined;
  const groupName = ownGroup ?? (pod && plainPod(pod).group);
  let groupAt: number | undefined;
  let latest = -Infinity;
  let needed = 1;
  const members: number[] = [];
  for (const { resource, type, object, previous, at } of record.changes) {
    if (groupName !== undefined && isGroupResource(resource) && plainGroup(object).name === groupName) {
      if (type === 'DELETED') return undefined;
      const { minMember } = plainGroup(object);
      if (groupAt !== undefined && minMember !== needed) return undefined;
      if (type === 'ADDED') latest = Math.max(latest, at);
      groupAt ??= at;
      needed = minMember;
    }
    if (resource !== 'pods') continue;
    const pod = plainPod(object);
    const before = previous && plainPod(previous);
    if (entityOf(record, pod) !== entity && (before === undefined || entityOf(record, before) !== entity)) continue;
    if (
      pod.isGated ||
      pod.otherGroup !== undefined ||
      (before !== undefined && entityOf(record, before) !== entityOf(record, pod))
    )
      return undefined;
    if (type !== 'ADDED') continue;
    members.push(at);
    latest = Math.max(latest, at);
  }
  needed = ownGroup === undefined ? 1 : needed;
  if (members.length < needed || (groupName !== undefined && groupAt === undefined)) return undefined;
  return { earliest: Math.max(groupAt ?? 0, members[needed - 1]!), latest };
}
