import { Dice } from './dice.ts';
import { drawContest, drawUnclearEviction } from './draw-contest.ts';
import { drawLaterStory, drawRepair, drawStory, drawTearing } from './draw-story.ts';
import { callFaults, watchFaults } from './scenario.ts';
import { drawNatives } from './draw-native.ts';
import { drawMarket } from './draw-tenant.ts';
import { drawLine, drawReservations, drawRunTimes } from './draw-turns.ts';
import type {
  CallClass,
  Fault,
  GroupPlan,
  MemberPlan,
  NodePlan,
  Recreation,
  Scenario,
  Step,
  TermPlan,
} from './scenario.ts';
import { mix } from './world/mix.ts';

const longestMs = 15_000;
const zones = ['a', 'b'];

/** When groups arrive, and how long binding their members takes: most defects show in that time. */
interface Rush {
  readonly starts: readonly number[];
  readonly lastsMs: number;
}

/** Returns the scenario of a seed. Scenarios are small, because defects need few actors and many scenarios. */
export function drawScenario(seed: number): Scenario {
  const dice = new Dice(seed);
  const nodes = dice.some(2, 5, (i) => drawNode(dice, i));
  const repairs = new Dice(mix(seed, 31));
  const places = new Dice(mix(seed, 37));
  const lines = new Dice(mix(seed, 53));
  const reservations = lines.chance(0.5) ? drawReservations(lines) : undefined;
  const line = reservations !== undefined && lines.chance(0.25) ? drawLine(lines) : undefined;
  const groups = dice
    .some(1, 4, (i) => ({ ...drawGroup(dice, i, nodes), ...drawRepair(repairs) }))
    .map((group) => drawPlaces(places, group))
    .map((group) => (reservations === undefined ? group : drawRunTimes(lines, group)));
  const starts = groups.map(() => dice.int(0, 5_000));
  const calls = dice.pick(['none', 'few', 'few', 'many']);
  const isCalm = dice.chance(0.08) || line?.isAlone === true;
  const drawn = !isCalm && dice.chance(0.5) ? drawStory(dice) : undefined;
  const torn = drawn ?? (!isCalm && repairs.chance(0.3) ? drawTearing(repairs) : undefined);
  const more = new Dice(mix(seed, 39));
  const story = torn ?? (!isCalm && more.chance(0.4) ? drawLaterStory(more) : undefined);
  const tenants = new Dice(mix(seed, 43));
  const market = !isCalm && tenants.chance(0.25) ? drawMarket(tenants) : undefined;
  const contests = new Dice(mix(seed, 47));
  const contest = !isCalm && contests.chance(0.4) ? drawContest(contests) : undefined;
  const evictions = new Dice(mix(seed, 61));
  const unclear = contest !== undefined && evictions.chance(0.1) ? drawUnclearEviction(evictions) : [];
  const contestFaults = [...(contest?.faults ?? []), ...unclear];
  const elects = story?.needsStandby === true || dice.chance(0.25);
  const isTight = dice.chance(0.15);
  const waits = dice.pick(['none', 'none', 'none', 'none', 'permit', 'preBind']);
  const scheduler = {
    instances: story?.needsStandby === true || (elects && dice.chance(0.8)) ? 2 : 1,
    elects,
    qps: isTight ? 4 : 50,
    burst: isTight ? dice.int(1, 4) : 100,
    permitMs: waits === 'permit' ? dice.int(500, 4_000) : 0,
    preBindMs: waits === 'preBind' || story?.needsPreBind === true ? dice.int(200, 3_000) : 0,
    ...(repairs.chance(0.25) && { workAtATime: repairs.pick([1, 3, 10]) }),
    ...(contest?.needsStandby === true && { elects: true, instances: 2 }),
    ...(reservations !== undefined && { reservations }),
  };
  const rush = { starts, lastsMs: 400 + scheduler.permitMs + scheduler.preBindMs + (isTight ? 4_000 : 0) };
  return {
    seed,
    nodes: [
      ...nodes,
      ...(story === undefined ? [] : [story.node]),
      ...(market === undefined ? [] : [market.node]),
      ...(contest?.nodes ?? []),
      ...(line?.nodes ?? []),
    ],
    scheduler,
    hasController: dice.chance(0.5) || story?.needsController === true,
    ...(dice.chance(0.08) && { forbiddenNode: dice.pick(nodes).name }),
    ...(story?.forbiddenPods !== undefined && { forbiddenPods: story.forbiddenPods }),
    ...(places.chance(0.12) && {
      extender: {
        refused: places.chance(0.7) ? [places.pick(nodes).name] : [],
        respondsInMs: places.pick([5, 100, 1_500]),
        failing: places.pick([0, 0, 0.2]),
      },
    }),
    network: {
      latencyMs: dice.pick([2, 10, 10, 60]),
      watchLagMs: story?.watchLagMs ?? dice.pick([0, 5, 50, 400, 1_500]),
      bookmarks: dice.chance(0.9),
    },
    steps: drawNatives(
      new Dice(mix(seed, 59)),
      [
        ...groups.map((group, i): Step => ({ at: starts[i]!, kind: 'create-group', group })),
        ...dice.some(0, 2, (i): Step => {
          const at = momentIn(rush, dice);
          return { at, kind: 'create-pod', name: `lone-${i}`, pod: drawMember(dice), priority: priorityOf(dice) };
        }),
        ...(story?.steps ?? []),
        ...(market?.steps ?? []),
        ...(contest?.steps ?? []),
        ...(line?.steps ?? []),
        ...(elects && !isCalm && story?.needsStandby !== true ? [drawTakeover(dice, rush)] : []),
        ...(isCalm || !dice.chance(0.1) ? [] : drawSwap(dice, groups, rush)),
        ...(isCalm ? [] : dice.some(0, 7, () => drawSteps(dice, nodes, groups, rush)).flat()),
      ],
      isCalm,
    ),
    faults: isCalm
      ? []
      : [
          ...(story?.faults ?? []),
          ...contestFaults,
          ...drawFaults(dice, calls),
          ...(elects && dice.chance(0.4) ? [drawStaleStandby(dice)] : []),
        ],
    ...(contest !== undefined && contestFaults.length > 0 && { faultsUntil: contest.faultsUntil }),
  };
}

/** Returns a time at which a group arrives, or any time. */
function momentIn({ starts, lastsMs }: Rush, dice: Dice): number {
  return dice.chance(0.65) ? dice.pick(starts) + dice.int(0, lastsMs) : dice.int(100, longestMs);
}

/** Deletes all members of a group while they are being bound; their owner recreates them. */
function drawSwap(dice: Dice, groups: readonly GroupPlan[], { starts, lastsMs }: Rush): Step[] {
  const i = dice.int(0, groups.length - 1);
  const at = starts[i]! + dice.int(20, lastsMs);
  return groups[i]!.members.map((_, member): Step => ({ at, kind: 'delete-member', group: groups[i]!.name, member }));
}

/** The next leader may have received no events for a while. */
function drawStaleStandby(dice: Dice): Fault {
  return { on: 'watch', role: 'scheduler', resource: 'pods', nth: dice.int(0, 24), kind: 'half-open', ms: 0 };
}

/** The leader crashes, or pauses for longer than its Lease lasts. */
function drawTakeover(dice: Dice, rush: Rush): Step {
  const at = momentIn(rush, dice);
  if (dice.chance(0.5)) return { at, kind: 'pause', role: 'scheduler', forMs: dice.int(15_000, 20_000) };
  return { at, kind: 'crash', role: 'scheduler', downMs: dice.int(10, 5_000) };
}

function drawNode(dice: Dice, i: number): NodePlan {
  const milliCpu = dice.pick([1_000, 2_000, 2_000, 4_000]);
  return {
    name: `n${i}`,
    milliCpu,
    mebibytes: dice.pick([1_024, 4_096]),
    pods: dice.chance(0.2) ? dice.int(1, 3) : 10,
    labels: { zone: dice.pick(zones) },
  };
}

function drawMember(dice: Dice): MemberPlan {
  return {
    milliCpu: dice.pick([250, 500, 500, 1_000, 1_500]),
    mebibytes: dice.pick([64, 256]),
    ...(dice.chance(0.08) && { hostPort: dice.pick([8080, 8081]) }),
    ...(dice.chance(0.08) && { zone: dice.pick(zones) }),
  };
}

function priorityOf(dice: Dice): number {
  return dice.pick([0, 0, 0, 100]);
}

function drawGroup(dice: Dice, i: number, nodes: readonly NodePlan[]): GroupPlan {
  const isUniform = dice.chance(0.7);
  const one = drawMember(dice);
  const count = dice.int(1, Math.min(5, nodes.length + 2));
  const isGated = dice.chance(0.08);
  const hasFinalizers = dice.chance(0.08);
  const members = Array.from({ length: count }, (): MemberPlan => {
    const member = isUniform ? one : drawMember(dice);
    return {
      ...member,
      ...(isGated && dice.chance(0.5) && { gated: true }),
      ...(hasFinalizers && { finalizer: true }),
    };
  });
  const isElastic = dice.chance(0.3);
  return {
    name: `g${i}`,
    minMember: isElastic ? dice.int(1, count) : count,
    members,
    priority: priorityOf(dice),
    spacingMs: dice.pick([0, 0, 5, 300]),
    groupAfterMs: dice.pick([-20, -20, 10, 1_500]),
    recreation: dice.pick<Recreation>(['never', 'same-name', 'same-name', 'new-name']),
  };
}

/** Adds what decides where members go besides their requests: terms on the other members, volumes, another profile, an extender. */
function drawPlaces(dice: Dice, group: GroupPlan): GroupPlan {
  const volumes = dice.chance(0.12) ? [undefined, 'late', ...zones] : [undefined];
  const isManaged = dice.chance(0.3);
  return {
    ...group,
    ...(dice.chance(0.25) && { terms: [drawTerm(dice)] }),
    ...(dice.chance(0.25) && { packs: true }),
    members: group.members.map((member) => {
      const volume = dice.pick(volumes);
      return { ...member, ...(volume !== undefined && { volume }), ...(isManaged && { managed: true }) };
    }),
  };
}

function drawTerm(dice: Dice): TermPlan {
  const kind = dice.pick<TermPlan['kind']>(['apart', 'together', 'spread']);
  return { kind, domain: kind === 'together' ? 'zone' : dice.pick<TermPlan['domain']>(['node', 'zone']) };
}

/** Some steps come in pairs: used capacity is freed again, and a deleted group is recreated. */
function drawSteps(dice: Dice, nodes: readonly NodePlan[], groups: readonly GroupPlan[], rush: Rush): Step[] {
  const step = drawStep(dice, nodes, groups, rush);
  const at = step.at + dice.int(500, 10_000);
  if (step.kind === 'delete-group' && !step.withMembers && dice.chance(0.8)) {
    const remakeAt = step.at + dice.int(100, 2_000);
    const { group } = step;
    const again: Step[] = [step, { at: remakeAt, kind: 'remake-group', group }];
    if (dice.chance(0.3)) return again;
    return [...again, { at: remakeAt + dice.int(100, 3_000), kind: 'delete-member', group, member: dice.int(0, 5) }];
  }
  if (step.kind === 'resize-pod') return [step, { ...step, at, milliCpu: 250 }];
  if (step.kind === 'nominate' && dice.chance(0.7)) return [step, { ...step, at, node: dice.pick(nodes).name }];
  return [step];
}

function drawStep(dice: Dice, nodes: readonly NodePlan[], groups: readonly GroupPlan[], rush: Rush): Step {
  const at = momentIn(rush, dice);
  const forMs = dice.int(500, 8_000);
  const group = dice.pick(groups).name;
  const node = dice.pick(nodes).name;
  const member = dice.int(0, 5);
  const role = dice.chance(0.8) ? 'scheduler' : 'controller';
  switch (dice.int(0, 21)) {
    case 0:
    case 1:
      return { at, kind: 'crash', role, downMs: dice.int(10, 8_000) };
    case 2:
      return { at, kind: 'pause', role, forMs: dice.pick([50, 3_000, 14_000, 20_000]) };
    case 3:
      return { at, kind: 'clock-jump', role, ms: dice.pick([-3_600_000, -5_000, 5_000, 3_600_000]) };
    case 4:
      return { at, kind: 'resize-group', group, minMember: dice.int(1, 5) };
    case 5:
      return { at, kind: 'delete-group', group, withMembers: dice.chance(0.5) };
    case 6:
      return { at, kind: 'remake-group', group };
    case 7:
    case 8:
      return { at, kind: 'delete-member', group, member };
    case 9:
      return { at, kind: 'relabel-member', group, member, to: dice.pick(groups).name };
    case 10:
      return { at, kind: 'ungate', group };
    case 11:
      return { at, kind: 'finish-member', group, member, phase: dice.pick(['Succeeded', 'Failed']) };
    case 12:
      return { at, kind: 'nominate', group, member, node };
    case 13:
      return { at, kind: 'resize-pod', group, member, milliCpu: dice.pick([250, 750, 1_250]) };
    case 14:
      return { at, kind: 'foreign-pod', node, milliCpu: dice.pick([250, 500, 1_000, 2_000]), forMs };
    case 15:
      return { at, kind: 'node-gone', node, forMs };
    case 16:
      return { at, kind: 'node-unready', node, forMs };
    case 17:
      return { at, kind: 'node-cordoned', node, forMs };
    case 18:
      return { at, kind: 'node-rejects', node, pods: dice.int(1, 3) };
    case 19:
      return { at, kind: 'node-shrinks', node, milliCpu: dice.pick([0, 500, 1_000]), forMs };
    case 20:
      return { at, kind: 'forget-history' };
    default:
      return { at, kind: 'end-watches' };
  }
}

const classes: readonly (CallClass | 'any')[] = ['any', 'bind', 'bind', 'bind', 'verdict', 'read', 'list', 'event'];

function drawFaults(dice: Dice, calls: string): Fault[] {
  const faults: Fault[] = [];
  const most = calls === 'none' ? 0 : calls === 'few' ? 3 : 12;
  for (let i = dice.int(0, most); i > 0; i--) {
    const isOfWatch = dice.chance(0.25);
    const role = dice.chance(0.8) ? 'scheduler' : 'controller';
    if (isOfWatch) {
      faults.push({
        on: 'watch',
        role,
        resource: dice.pick(['pods', 'pods', 'nodes', 'podgroups', 'nativepodgroups']),
        nth: dice.int(0, 25),
        kind: dice.pick(watchFaults),
        ms: dice.int(500, 6_000),
      });
    } else {
      const of = role === 'scheduler' ? dice.pick(classes) : dice.pick<CallClass | 'any'>(['any', 'status', 'list']);
      const kind = dice.pick(callFaults);
      faults.push({
        on: 'call',
        role,
        of: dice.chance(0.1) ? 'lease' : of,
        nth: dice.int(0, of === 'any' ? 50 : of === 'list' ? 4 : 12),
        kind,
        ms: kind === 'pause-before' ? dice.pick([3_000, 16_000]) : dice.int(500, 9_000),
      });
    }
  }
  if (dice.chance(0.2)) faults.push(...drawDoubt(dice));
  if (dice.chance(0.12)) {
    const from = dice.int(0, 15_000);
    faults.push({
      on: 'outage',
      role: 'scheduler',
      from,
      to: from + dice.int(500, 6_000),
      kind: dice.pick(['reject-429', 'reject-500', 'reject-503', 'done-500', 'lost-request', 'lost-answer']),
      share: dice.pick([0.3, 0.7, 1]),
    });
  }
  return faults;
}

/** A Binding with an unknown outcome: the answer is lost, and reading the pod back is rejected. */
function drawDoubt(dice: Dice): Fault[] {
  const nth = dice.int(0, 6);
  const kind = dice.pick([
    'lost-answer',
    'lost-request',
    'done-500',
    'silent-answer',
    'reject-500',
    'late-request',
  ] as const);
  const ms = dice.int(500, 4_000);
  const rejections = dice.int(1, 3);
  return [
    { on: 'call', role: 'scheduler', of: 'bind', nth, kind, ms },
    ...Array.from({ length: rejections }, (_, i): Fault => {
      return { on: 'call', role: 'scheduler', of: 'read', nth: i, kind: 'reject-403', ms };
    }),
  ];
}
