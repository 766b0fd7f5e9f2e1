import type { Dice } from './dice.ts';
import { groupsIn } from './groups-in-zone.ts';
import type { GroupPlan, MemberPlan, NodePlan, Recreation, ReservationsPlan, Step } from './scenario.ts';

/** A large gang that waits on nodes of its own while small pods keep coming. */
export interface Line {
  readonly nodes: readonly NodePlan[];
  readonly steps: readonly Step[];
  /** Nothing else happens: most excuses for a late start do not apply. */
  readonly isAlone: boolean;
}

const zone = 'line';
const gang = groupsIn(zone);

export function drawReservations(dice: Dice): ReservationsPlan {
  const reserveAfterMs = dice.pick([5_000, 5_000, 5_000, 10_000, 20_000, 60_000]);
  return {
    reserveAfterMs,
    drainAfterMs: Math.max(reserveAfterMs, dice.pick([10_000, 20_000, 40_000, 60_000])),
    overrunPenaltyMs: dice.pick([10_000, 3_600_000]),
    ...(dice.chance(0.5) && { poolLabel: 'zone' as const }),
    ...(dice.chance(0.1) && { isForOneProfile: true as const }),
  };
}

/** Adds how long the members run, and what they declare. */
export function drawRunTimes(dice: Dice, group: GroupPlan): GroupPlan {
  if (dice.chance(0.75)) return group;
  const more = drawRunTime(dice, dice.int(2_000, 20_000));
  return { ...group, members: group.members.map((member) => ({ ...member, ...more })) };
}

type RunTime = Pick<MemberPlan, 'runsMs' | 'runtime' | 'deadlineSeconds'>;

/** Returns a run time with a declaration that is true, understated, or absent, or that does not count. */
function drawRunTime(dice: Dice, runsMs: number): RunTime {
  const seconds = Math.ceil(runsMs / 1_000) + dice.int(1, 3);
  switch (dice.int(0, 11)) {
    case 0:
      // An overrun begins half a minute after the declared end.
      return { runsMs: dice.int(33_000, 45_000), runtime: `${dice.int(1, 2)}s` };
    case 1:
      return { runsMs, runtime: dice.pick(['soon', '-5s', '0']) };
    case 2:
      return { runsMs };
    case 3:
      return {};
    case 4:
      return { runsMs, deadlineSeconds: seconds };
    case 5:
      return { deadlineSeconds: seconds };
    default:
      return { runsMs, runtime: dice.chance(0.5) ? `${seconds}s` : String(seconds) };
  }
}

function drawLineNode(dice: Dice, i: number): NodePlan {
  const milliCpu = dice.pick([1_000, 2_000]);
  return { name: `${zone}-${i}`, milliCpu, mebibytes: 4_096, pods: 10, labels: { zone }, isReserved: true };
}

/** Nodes that small pods fill, a gang that needs most of them, and more small pods, or others that want its turn. */
export function drawLine(dice: Dice): Line {
  const nodes = dice.some(2, 3, (i) => drawLineNode(dice, i));
  const capacity = nodes.reduce((sum, { milliCpu }) => sum + milliCpu, 0);
  const at = dice.int(100, 1_000);
  const bigAt = at + dice.int(1_500, 3_000);
  const size = dice.pick([500, 1_000]);
  const count = Math.max(1, Math.floor(capacity / size) - dice.pick([0, 0, 0, 1]));
  const big = drawBig(dice, 'big', size, count);
  const steps: Step[] = [...drawFillers(dice, at, capacity), { at: bigAt, kind: 'create-group', group: big }];
  if (dice.chance(0.35)) {
    const priority = dice.pick([0, 0, 100, 200]);
    const rival = drawBig(dice, 'rival', size, Math.max(1, count - dice.int(0, 1)), priority);
    steps.push({ at: bigAt + dice.int(0, 18_000), kind: 'create-group', group: rival });
  }
  const every = dice.pick([1_500, 3_000]);
  for (let i = dice.int(2, 6), comesAt = bigAt + dice.int(1_000, 9_000); i > 0; i--, comesAt += dice.int(500, every)) {
    const pod: MemberPlan = { milliCpu: 500, mebibytes: 64, zone, ...drawRunTime(dice, dice.int(2_000, 10_000)) };
    steps.push({ at: comesAt, kind: 'create-pod', name: `small-${i}`, pod, priority: dice.pick([0, 0, 0, 0, 100]) });
  }
  return { nodes, steps: [...steps, ...drawDisturbances(dice, bigAt, nodes)], isAlone: dice.chance(0.5) };
}

function drawFillers(dice: Dice, at: number, capacity: number): Step[] {
  const steps: Step[] = [];
  let left = capacity - dice.pick([0, 500]);
  // Most lines come to their end.
  const mayStay = dice.chance(0.1);
  for (let i = 0; left >= 500; i++) {
    const milliCpu = Math.min(left, dice.pick([500, 1_000]));
    // Those that end early leave capacity for small pods, while the others keep the gang waiting.
    const lasts = (): number => (dice.chance(0.5) ? dice.int(5_000, 12_000) : dice.int(25_000, 40_000));
    let runTime = drawRunTime(dice, lasts());
    while (!mayStay && (runTime.runsMs ?? runTime.deadlineSeconds) === undefined) runTime = drawRunTime(dice, lasts());
    const pod: MemberPlan = { milliCpu, mebibytes: 64, zone, ...runTime };
    steps.push({ at, kind: 'create-pod', name: `filler-${i}`, pod, priority: 0 });
    left -= milliCpu;
  }
  return steps;
}

function drawBig(dice: Dice, name: string, milliCpu: number, count: number, priority = 0): GroupPlan {
  const runTime = dice.chance(0.6) ? drawRunTime(dice, dice.int(3_000, 10_000)) : {};
  const member: MemberPlan = { milliCpu, mebibytes: 64, ...runTime };
  return gang(
    name,
    dice.chance(0.2) ? dice.int(1, count) : count,
    Array.from({ length: count }, () => member),
    {
      priority,
      recreation: dice.pick<Recreation>(['never', 'same-name', 'new-name']),
      ...(count === 1 && dice.chance(0.5) && { isLoose: true as const }),
      ...(dice.chance(0.15) && { packs: true as const }),
    },
  );
}

/** What happens while the gang waits. */
function drawDisturbances(dice: Dice, bigAt: number, nodes: readonly NodePlan[]): Step[] {
  const soon = (): number => bigAt + dice.int(4_000, 20_000);
  const node = dice.pick(nodes).name;
  const forMs = dice.int(2_000, 10_000);
  const member = dice.int(0, 3);
  if (dice.chance(0.4)) return [];
  switch (dice.int(-2, 10)) {
    case -2:
    case -1:
    case 0:
      return [{ at: soon(), kind: 'delete-group', group: 'big', withMembers: dice.chance(0.7) }];
    case 1:
      return [{ at: soon(), kind: 'delete-member', group: 'big', member }];
    case 2:
      return [{ at: soon(), kind: 'resize-group', group: 'big', minMember: dice.int(1, 6) }];
    case 3:
      return [{ at: soon(), kind: 'node-cordoned', node, forMs }];
    case 4:
      return [{ at: soon(), kind: 'node-gone', node, forMs }];
    case 5:
      return [{ at: soon(), kind: 'node-shrinks', node, milliCpu: 500, forMs }];
    case 6:
      return [{ at: soon(), kind: 'foreign-pod', node, milliCpu: 500, forMs }];
    case 7:
    case 8:
      return [{ at: soon(), kind: 'crash', role: 'scheduler', downMs: dice.int(10, 5_000) }];
    case 9:
      return [{ at: soon(), kind: 'pause', role: 'scheduler', forMs: dice.pick([3_000, 16_000]) }];
    default: {
      const pod: MemberPlan = { milliCpu: 500, mebibytes: 64, zone };
      return [{ at: soon(), kind: 'create-pod', name: 'urgent', pod, priority: 200 }];
    }
  }
}
