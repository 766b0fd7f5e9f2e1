import type { Dice } from './dice.ts';
import { tricks } from './scenario.ts';
import type { MemberPlan, NodePlan, Step, Trick } from './scenario.ts';

/** What a hostile tenant does on a node of its own, and pods of other namespaces that want the node afterwards. */
export interface Market {
  readonly node: NodePlan;
  readonly steps: readonly Step[];
}

const zone = 'market';
const name = 'market';
/** Longer than any trick takes until its members are deleted. */
const playedMs = 9_000;
/** By then, all other steps are over, and so is the longest back-off after them. */
const quietAfterMs = 42_000;
/** Longer than the back-off after one rejection. */
const onceMs = 4_000;

export function drawMarket(dice: Dice): Market {
  const trick = dice.pick<Trick>(tricks);
  const members = dice.int(2, 4);
  const milliCpu = dice.pick([500, 1_000]);
  const at = dice.int(100, 3_000);
  const plan = { trick, node: name, milliCpu, members };
  const capacity = members * milliCpu;
  const victim: MemberPlan = { milliCpu, mebibytes: 1, zone };
  const group = (priority: number, count: number, comesAt: number): Step => ({
    at: comesAt,
    kind: 'create-group',
    group: {
      name: 'victims',
      minMember: count,
      members: Array.from({ length: count }, () => victim),
      priority,
      spacingMs: 0,
      groupAfterMs: -20,
      recreation: 'never',
    },
  });
  // A queue can only be jumped while others wait in it: for capacity that is freed once, after a quiet time. They came first or last.
  const waitsFrom = (): number => (dice.chance(0.5) ? at + 1_000 : quietAfterMs - onceMs - dice.int(0, 6_000));
  const steps: Step[] =
    trick === 'jump-the-queue'
      ? [
          { at, kind: 'foreign-pod', node: name, milliCpu: capacity, forMs: quietAfterMs - at },
          group(100, members, waitsFrom()),
          { at: at + 2_000, kind: 'tenant', plan },
        ]
      : [{ at, kind: 'tenant', plan }, group(dice.pick([0, 100]), members - 1, at + playedMs + dice.int(0, 5_000))];
  return {
    node: { name, milliCpu: capacity + 1, mebibytes: 4_096, pods: 20, labels: { zone }, isReserved: true },
    steps,
  };
}
