import { arena, arenaNode, entity } from './arena.ts';
import type { Contest } from './arena.ts';
import type { Dice } from './dice.ts';
import type { Fault, GroupPlan, MemberPlan, Recreation, Step } from './scenario.ts';

const half: MemberPlan = { milliCpu: 500, mebibytes: 64 };
const whole: MemberPlan = { milliCpu: 1_000, mebibytes: 64 };
/** Time until what fills the nodes runs. */
const fullAfterMs = 2_500;

function times<T>(count: number, of: T): T[] {
  return Array.from({ length: count }, () => of);
}

/** Takes this long to terminate. */
function slow(member: MemberPlan, endsInMs: number): MemberPlan {
  return { ...member, endsInMs, graceSeconds: Math.ceil(endsInMs / 1_000) + 1 };
}

function creates(at: number, ...groups: readonly GroupPlan[]): Step[] {
  return groups.map((group): Step => ({ at, kind: 'create-group', group }));
}

function lone(at: number, name: string, milliCpu: number, priority: number): Step {
  return { at, kind: 'create-pod', name, pod: { milliCpu, mebibytes: 64, zone: arena }, priority };
}

function onCall(of: 'mark' | 'evict', nth: number, kind: (Fault & { on: 'call' })['kind'], ms = 0): Fault {
  return { on: 'call', role: 'scheduler', of, nth, kind, ms };
}

type Told = Omit<Contest, 'faults' | 'faultsUntil'> & Partial<Pick<Contest, 'faults'>>;

/** The Lease is lost between the first mark and the last delete. */
function leaseIsLost(dice: Dice, at: number, then: number): Told {
  const low = entity('low', dice.int(2, 4), times(4, half), 0, { recreation: 'same-name' });
  const high = entity('high', 2, times(2, whole), 100);
  return {
    nodes: [arenaNode('arena-0', 2_000)],
    steps: [...creates(at, low), ...creates(then, high)],
    faults: [onCall(dice.pick(['mark', 'evict']), dice.int(0, 3), 'pause-before', dice.int(15_500, 20_000))],
    needsStandby: true,
  };
}

/** `at`: when the nodes are filled; `then`: when they are full. */
const stories: readonly ((dice: Dice, at: number, then: number) => Told)[] = [
  /** The process dies when some victims of a gang are deleted. Their owner recreates them at once. */
  function gangIsHalfEvicted(dice, at, then) {
    const recreation = dice.pick<Recreation>(['same-name', 'new-name']);
    const low = entity('low', 4, times(4, half), 0, { recreation, recreatesInMs: dice.pick([5, 300]) });
    return {
      nodes: [arenaNode('arena-0', 2_000)],
      steps: [...creates(at, low), lone(then, 'high', 1_000, 100)],
      faults: [onCall('evict', dice.int(0, 3), dice.pick(['crash-before', 'crash-after']))],
      ...(dice.chance(0.4) && { needsStandby: true as const }),
    };
  },
  /** The process dies while the victims are being marked. */
  function gangIsHalfMarked(dice, at, then) {
    const recreation = dice.pick<Recreation>(['never', 'same-name']);
    const low = entity('low', dice.int(2, 4), times(4, half), 0, { recreation });
    return {
      nodes: [arenaNode('arena-0', 2_000)],
      steps: [...creates(at, low), ...creates(then, entity('high', 2, times(2, whole), 100))],
      faults: [onCall('mark', dice.int(0, 3), dice.pick(['crash-before', 'crash-after']))],
      ...(dice.chance(0.4) && { needsStandby: true as const }),
    };
  },
  /** A victim does not end before the deadline. Another node would do. */
  function victimStays(dice, at, then) {
    const heldMs = dice.int(80_000, 140_000);
    const stuck = entity('stuck', 1, [{ ...whole, heldMs, graceSeconds: 1 }], 0, { isLoose: true });
    const other = entity('other', 1, [whole], 50, { isLoose: true, recreation: 'same-name' });
    return {
      nodes: [arenaNode('arena-0', 1_000), ...(dice.chance(0.5) ? [arenaNode('arena-1', 1_000)] : [])],
      steps: [...creates(at, stuck, other), lone(then, 'high', 1_000, 100)],
    };
  },
  /** A gang waits for slow victims on one node; a pod of a still higher priority takes the node that was free. */
  function planIsDisplaced(dice, at, then) {
    const low = entity('low', 1, [slow(whole, dice.int(3_000, 8_000))], 0, { isLoose: true });
    const high = entity('high', 2, times(2, whole), 100);
    return {
      nodes: [arenaNode('arena-0', 1_000), arenaNode('arena-1', 1_000)],
      steps: [...creates(at, low), ...creates(then, high), lone(then + dice.int(300, 2_500), 'highest', 1_000, 1_000)],
    };
  },
  /** The same before all deletes are sent. */
  function planIsDisplacedEarly(dice, at, then) {
    const low = times(4, half).map((member, i) => entity(`low-${i}`, 1, [member], 0, { isLoose: true }));
    const high = entity('high', 3, times(3, whole), 100);
    return {
      nodes: [arenaNode('arena-0', 2_000), arenaNode('arena-1', 1_000)],
      steps: [
        ...creates(at, ...low),
        ...creates(then, high),
        lone(then + dice.int(20, 1_500), 'highest', dice.pick([500, 1_000]), 1_000),
      ],
      faults: [onCall('mark', dice.int(0, 3), 'slow-answer', 2_000)],
    };
  },
  /** A gang waits for slow victims on one node; pods of a lower priority come that fit on the node that is free. */
  function freeNodeIsWanted(dice, at, then) {
    const low = entity('low', 1, [slow(whole, dice.int(2_000, 6_000))], 0, {
      isLoose: true,
      recreation: 'same-name',
      recreatesInMs: 5,
    });
    const high = entity('high', 2, times(2, whole), 100);
    return {
      nodes: [arenaNode('arena-0', 1_000), arenaNode('arena-1', 1_000)],
      steps: [
        ...creates(at, low),
        ...creates(then, high),
        lone(then + dice.int(300, 1_800), 'late', 1_000, dice.pick([0, 100])),
      ],
    };
  },
  /** Victims end one after the other, and their owner recreates each at once. */
  function victimsAreRecreated(dice, at, then) {
    const low = [300, 2_500, 5_000].map((ms, i) =>
      entity(`low-${i}`, 1, [slow(half, ms + dice.int(0, 300))], 0, {
        isLoose: true,
        recreation: dice.pick<Recreation>(['same-name', 'new-name']),
        recreatesInMs: 5,
      }),
    );
    return { nodes: [arenaNode('arena-0', 1_500)], steps: [...creates(at, ...low), lone(then, 'high', 1_500, 100)] };
  },
  /** A gang of mixed priority, attacked from between. */
  function defenderIsMixed(dice, at, then) {
    const members = [{ ...half, priority: 900 }, half, half];
    const low = entity('mixed', dice.int(1, 3), members, 10, { recreation: 'same-name' });
    return {
      nodes: [arenaNode('arena-0', 1_500)],
      steps: [...creates(at, low), lone(then, 'high', dice.pick([500, 1_000, 1_500]), 300)],
    };
  },
  /** A gang of mixed priority attacks. */
  function attackerIsMixed(dice, at, then) {
    const low = entity('low', 2, times(2, half), 50, { recreation: 'same-name' });
    const high = entity('high', 2, [{ ...half, priority: dice.pick([10, 100]) }, half], 300);
    return { nodes: [arenaNode('arena-0', 1_000)], steps: [...creates(at, low), ...creates(then, high)] };
  },
  /** Two gangs want the same victims. */
  function victimsAreWantedTwice(dice, at, then) {
    const low = entity('low', 2, times(2, slow(half, dice.int(1_000, 4_000))), 0, {
      recreation: 'new-name',
      recreatesInMs: 5,
    });
    const attackers = ['red', 'blue'].map((name) => entity(name, 2, times(2, half), dice.pick([100, 200])));
    return { nodes: [arenaNode('arena-0', 1_000)], steps: [...creates(at, low), ...creates(then, ...attackers)] };
  },
  /** The beneficiary changes, or its node does, after some deletes were sent. */
  function planIsAbandoned(dice, at, then) {
    const low = entity('low', dice.int(1, 3), times(3, slow(half, dice.int(500, 4_000))), 0, {
      recreation: 'same-name',
    });
    const high = entity('high', 2, [half, whole], 100);
    const when = then + dice.int(50, 2_500);
    const change = dice.pick<Step>([
      { at: when, kind: 'delete-group', group: 'high', withMembers: true },
      { at: when, kind: 'delete-member', group: 'high', member: 1 },
      { at: when, kind: 'resize-group', group: 'high', minMember: 3 },
      { at: when, kind: 'node-cordoned', node: 'arena-0', forMs: 4_000 },
      { at: when, kind: 'node-gone', node: 'arena-0', forMs: 4_000 },
      { at: when, kind: 'foreign-pod', node: 'arena-0', milliCpu: 500, forMs: 6_000 },
    ]);
    return {
      nodes: [arenaNode('arena-0', 1_500)],
      steps: [...creates(at, low), ...creates(then, high), change],
      ...(dice.chance(0.5) && { faults: [onCall(dice.pick(['mark', 'evict']), dice.int(0, 2), 'slow-answer', 1_500)] }),
    };
  },
  /** A mark is refused, or a delete again and again. */
  function victimIsRefused(dice, at, then) {
    const low = entity('low', dice.int(1, 3), times(3, half), 0, { recreation: 'same-name' });
    const of = dice.pick(['mark', 'evict'] as const);
    const kind = dice.pick([
      'reject-403',
      'reject-403',
      'reject-500',
      'lost-answer',
      'done-500',
      'lost-request',
    ] as const);
    const from = dice.int(0, 2);
    return {
      nodes: [arenaNode('arena-0', 1_500)],
      steps: [
        ...creates(at, low),
        ...creates(then, entity('high', 1, [dice.pick([half, whole, { ...half, milliCpu: 1_500 }])], 100)),
      ],
      faults: times(kind === 'reject-403' ? 1 : dice.int(1, 6), 0).map((_, i) => onCall(of, from + i, kind)),
    };
  },
  /** A budget protects one of two victims, and changes. */
  function budgetChanges(dice, at, then) {
    const low = entity('guarded', 1, [{ ...whole, budget: 'guard' }], 0, { isLoose: true, recreation: 'same-name' });
    const other = entity('open', 1, [whole], dice.pick([0, 50]), { isLoose: true, recreation: 'same-name' });
    return {
      nodes: [arenaNode('arena-0', 1_000), arenaNode('arena-1', 1_000)],
      steps: [
        { at: 0, kind: 'set-budget', name: 'guard', allowed: dice.pick([0, 0, 1]) },
        ...creates(at, low, other),
        lone(then, 'high', 1_000, 100),
        { at: then + dice.int(0, 500), kind: 'set-budget', name: 'guard', allowed: dice.int(0, 1) },
        ...(dice.chance(0.5) ? [lone(then + 3_000, 'second', 1_000, 100)] : []),
      ],
    };
  },
  /** A pod that must not preempt waits beside one that may. */
  function oneNeverPreempts(dice, at, then) {
    const low = entity('low', 2, times(2, half), 0, { recreation: 'same-name' });
    const never: MemberPlan = { ...half, neverPreempts: true };
    const shy = entity(
      'shy',
      2,
      dice.pick([
        [never, never],
        [never, half],
      ]),
      100,
    );
    return {
      nodes: [arenaNode('arena-0', 1_000)],
      steps: [
        ...creates(at, low),
        ...creates(then, shy),
        ...(dice.chance(0.4) ? [lone(then + 2_000, 'bold', 500, 50)] : []),
      ],
    };
  },
  /** Someone marks bound pods as if the scheduler preempted them, and the leader changes. */
  function marksAreForged(dice, at, then) {
    const low = entity('low', 2, times(3, half), 0, { recreation: 'same-name' });
    return {
      nodes: [arenaNode('arena-0', 2_000)],
      steps: [
        ...creates(at, low),
        ...[0, 1].map((member): Step => ({ at: then + dice.int(0, 600), kind: 'forge-mark', group: 'low', member })),
        { at: then + dice.int(200, 1_000), kind: 'crash', role: 'scheduler', downMs: dice.int(10, 2_000) },
        ...(dice.chance(0.5) ? [lone(then + dice.int(0, 3_000), 'high', 1_000, 100)] : []),
      ],
    };
  },
];

export function drawContestStory(dice: Dice): Contest {
  const at = dice.int(100, 2_000);
  const then = at + fullAfterMs;
  const tell = dice.chance(0.1) ? leaseIsLost : dice.pick(stories);
  return { faults: [], faultsUntil: then + 8_000, ...tell(dice, at, then) };
}
