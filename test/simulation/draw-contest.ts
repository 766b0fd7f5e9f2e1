import type { Dice } from './dice.ts';
import { drawContestStory } from './draw-contest-story.ts';
import { arena, arenaNode, entity } from './arena.ts';
import type { Contest } from './arena.ts';
import type { CallFault, Fault, GroupPlan, MemberPlan, NodePlan, Recreation, Step } from './scenario.ts';

/** When the arena is full: the attackers come after that. */
const fullAfterMs = 2_500;

/** Returns nodes that low priorities fill, and entities of a higher priority that want them. */
export function drawContest(dice: Dice): Contest {
  return dice.chance(0.5) ? drawContestStory(dice) : drawMelee(dice);
}

function drawMelee(dice: Dice): Contest {
  const at = dice.int(100, 2_000);
  const attackAt = at + fullAfterMs + dice.int(0, 2_000);
  const nodes = dice.some(1, 3, (i) => arenaNode(`${arena}-${i}`, dice.pick([1_000, 2_000, 2_000])));
  const capacity = nodes.reduce((sum, { milliCpu }) => sum + milliCpu, 0);
  const free = dice.pick([0, 0, 500]);
  const defenders = drawDefenders(dice, capacity - free);
  const attackers = dice.some(1, 2, (i) => drawAttacker(dice, `attacker-${i}`, capacity));
  const budgets = [...new Set(defenders.flatMap(({ members }) => members.flatMap(({ budget }) => budget ?? [])))];
  const elects = dice.chance(0.15);
  const steps: Step[] = [
    ...budgets.map((name): Step => ({ at: 0, kind: 'set-budget', name, allowed: dice.int(0, 1) })),
    ...defenders.map((group): Step => ({ at, kind: 'create-group', group })),
    ...attackers.map((group): Step => ({ at: attackAt + dice.int(0, 1_500), kind: 'create-group', group })),
    ...drawTurns(dice, { attackAt, attackers, defenders, nodes, budgets }),
  ];
  return {
    nodes,
    steps,
    faults: drawBlows(dice, elects),
    faultsUntil: attackAt + 10_000,
    ...(elects && { needsStandby: true }),
  };
}

/** Single pods and gangs, elastic and rigid, that together need the capacity. */
function drawDefenders(dice: Dice, capacity: number): GroupPlan[] {
  const defenders: GroupPlan[] = [];
  for (let left = capacity; left >= 500;) {
    const milliCpu = dice.pick([500, 500, 1_000]);
    const most = Math.min(4, Math.floor(left / milliCpu));
    if (most === 0) continue;
    const count = dice.int(1, most);
    const isLoose = count === 1 || dice.chance(0.25);
    const priority = dice.pick([0, 0, 0, 10, 50]);
    const endsInMs = dice.pick([300, 1_000, 3_000, 8_000]);
    const member: MemberPlan = {
      milliCpu,
      mebibytes: 64,
      endsInMs,
      graceSeconds: Math.ceil(endsInMs / 1_000) + dice.int(0, 5),
      ...(dice.chance(0.04) && { heldMs: dice.int(90_000, 130_000) }),
      ...(dice.chance(0.12) && { budget: `budget-${dice.int(0, 1)}` }),
    };
    const strongest = !isLoose && dice.chance(0.1) ? 900 : undefined;
    const members = Array.from({ length: count }, (_, i): MemberPlan => {
      return { ...member, ...(i === 0 && strongest !== undefined && { priority: strongest }) };
    });
    const isElastic = dice.chance(0.5);
    defenders.push({
      ...entity(`defender-${defenders.length}`, isElastic ? dice.int(1, count) : count, members, priority),
      recreation: dice.pick<Recreation>(['never', 'same-name', 'new-name', 'new-name']),
      ...(dice.chance(0.5) && { recreatesInMs: 5 }),
      ...(isLoose && { isLoose: true as const }),
    });
    left -= count * milliCpu;
  }
  return defenders;
}

function drawAttacker(dice: Dice, name: string, capacity: number): GroupPlan {
  const milliCpu = dice.pick([500, 500, 1_000, 1_000]);
  const count = Math.max(1, dice.int(1, Math.min(4, Math.floor(capacity / milliCpu))));
  const isLoose = count === 1 && dice.chance(0.7);
  const isMixed = !isLoose && dice.chance(0.08);
  const never = dice.chance(0.05);
  const members = Array.from({ length: count }, (_, i): MemberPlan => {
    return {
      milliCpu,
      mebibytes: 64,
      ...(isMixed && i === 0 && { priority: 10 }),
      ...(never && { neverPreempts: true as const }),
    };
  });
  return {
    ...entity(name, dice.chance(0.2) ? dice.int(1, count) : count, members, dice.pick([100, 200, 300])),
    recreation: dice.pick<Recreation>(['never', 'same-name']),
    ...(isLoose && { isLoose: true as const }),
  };
}

interface Sides {
  readonly attackAt: number;
  readonly attackers: readonly GroupPlan[];
  readonly defenders: readonly GroupPlan[];
  readonly nodes: readonly NodePlan[];
  readonly budgets: readonly string[];
}

/** What happens while victims terminate. */
function drawTurns(dice: Dice, { attackAt, attackers, defenders, nodes, budgets }: Sides): Step[] {
  const steps: Step[] = [];
  const soon = (): number => attackAt + dice.int(100, 5_000);
  const forMs = dice.int(1_000, 8_000);
  const node = dice.pick(nodes).name;
  const attacker = dice.pick(attackers).name;
  const defender = dice.pick(defenders).name;
  const member = dice.int(0, 3);
  if (dice.chance(0.25)) {
    const champions = Array.from({ length: dice.int(1, 2) }, (): MemberPlan => ({ milliCpu: 500, mebibytes: 64 }));
    steps.push({ at: soon(), kind: 'create-group', group: entity('champion', champions.length, champions, 1_000) });
  }
  if (dice.chance(0.25)) {
    const pod = { milliCpu: 500, mebibytes: 64, zone: arena };
    steps.push({ at: soon(), kind: 'create-pod', name: 'latecomer', pod, priority: dice.pick([0, 50]) });
  }
  if (dice.chance(0.08)) steps.push({ at: soon(), kind: 'node-cordoned', node, forMs });
  if (dice.chance(0.05)) steps.push({ at: soon(), kind: 'node-gone', node, forMs });
  if (dice.chance(0.04)) steps.push({ at: soon(), kind: 'node-unready', node, forMs });
  if (dice.chance(0.03)) steps.push({ at: attackAt - 500, kind: 'node-hangs', node, forMs: 100_000 });
  if (dice.chance(0.05)) steps.push({ at: soon(), kind: 'node-rejects', node, pods: 1 });
  if (dice.chance(0.06)) steps.push({ at: soon(), kind: 'delete-group', group: attacker, withMembers: true });
  if (dice.chance(0.06)) steps.push({ at: soon(), kind: 'delete-member', group: attacker, member });
  if (dice.chance(0.05)) steps.push({ at: soon(), kind: 'resize-group', group: attacker, minMember: dice.int(1, 4) });
  if (dice.chance(0.05)) steps.push({ at: soon(), kind: 'resize-group', group: defender, minMember: dice.int(1, 4) });
  if (dice.chance(0.05)) steps.push({ at: soon(), kind: 'delete-member', group: defender, member });
  if (dice.chance(0.05)) steps.push({ at: soon(), kind: 'forge-mark', group: defender, member });
  if (dice.chance(0.04)) steps.push({ at: soon(), kind: 'nominate', group: attacker, member, node });
  if (dice.chance(0.1)) steps.push({ at: soon(), kind: 'foreign-pod', node, milliCpu: 500, forMs });
  const [budget] = budgets;
  if (budget !== undefined && dice.chance(0.3))
    steps.push({ at: soon(), kind: 'set-budget', name: budget, allowed: dice.int(0, 2) });
  return steps;
}

/** A delete has no clear answer, and the server rejects the next ones, reads too. The watch may show late what has happened. */
export function drawUnclearEviction(dice: Dice): Fault[] {
  const nth = dice.pick([0, 0, 0, 1, 3]);
  const kind = dice.pick(['lost-answer', 'done-500', 'done-500', 'lost-request', 'silent-answer'] as const);
  const rejection = dice.pick(['reject-403', 'reject-403', 'reject-409', 'reject-429'] as const);
  const ms = dice.int(500, 4_000);
  const onCall = (of: 'evict' | 'read', at: number, as: CallFault): Fault => {
    return { on: 'call', role: 'scheduler', of, nth: at, kind: as, ms };
  };
  const rejections = Array.from({ length: dice.int(2, 20) }, (_, i) => onCall('evict', nth + 1 + i, rejection));
  const reads = Array.from({ length: dice.int(0, 3) }, (_, i) =>
    onCall('read', i, dice.pick(['reject-403', 'reject-500'])),
  );
  const late: Fault[] = Array.from({ length: dice.int(0, 2) }, () => {
    return { on: 'watch', role: 'scheduler', resource: 'pods', nth: dice.int(0, 25), kind: 'lag', ms };
  });
  return [onCall('evict', nth, kind), ...rejections, ...reads, ...late];
}

/** Faults on the calls of a preemption. */
function drawBlows(dice: Dice, elects: boolean): Fault[] {
  const of = dice.pick(['mark', 'evict'] as const);
  const nth = dice.int(0, 4);
  if (elects && dice.chance(0.6)) {
    const kind = dice.pick(['pause-before', 'pause-before', 'crash-before', 'crash-after'] as const);
    return [{ on: 'call', role: 'scheduler', of, nth, kind, ms: dice.int(15_500, 20_000) }];
  }
  if (!dice.chance(0.3)) return [];
  const kinds = ['crash-before', 'crash-after', 'reject-403', 'reject-409', 'reject-500', 'reject-429'] as const;
  const others = ['done-500', 'lost-answer', 'lost-request', 'slow-request', 'slow-answer', 'pause-before'] as const;
  const kind = dice.pick<CallFault>([...kinds, ...others]);
  return [{ on: 'call', role: 'scheduler', of, nth, kind, ms: dice.int(500, 5_000) }];
}
