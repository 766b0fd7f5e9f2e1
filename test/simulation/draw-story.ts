import type { Dice } from './dice.ts';
import { groupsIn } from './groups-in-zone.ts';
import type { Fault, GroupPlan, MemberPlan, NodePlan, Step } from './scenario.ts';

/** A few related steps and faults on a node of their own: combinations that random draws would rarely produce. */
export interface Story {
  readonly node: NodePlan;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
  /** Two schedulers run for election. */
  readonly needsStandby?: true;
  readonly needsController?: true;
  /** The watches are slow, so that assumptions matter. */
  readonly watchLagMs?: number;
  /** PreBind takes time and sometimes fails. */
  readonly needsPreBind?: true;
  /** Bindings of these pods are always rejected. */
  readonly forbiddenPods?: readonly string[];
}

const zone = 'story';
const group = groupsIn(zone);

function node(milliCpu: number): NodePlan {
  return { name: 'story', milliCpu, mebibytes: 4_096, pods: 10, labels: { zone }, isReserved: true };
}

const small: MemberPlan = { milliCpu: 500, mebibytes: 64 };
const whole: MemberPlan = { milliCpu: 1_000, mebibytes: 64 };

function waiter(at: number, name = 'waiter', milliCpu = 1_000): Step {
  return { at, kind: 'create-pod', name, pod: { milliCpu, mebibytes: 64, zone }, priority: 0 };
}

function onBinding(pod: string, kind: (Fault & { on: 'call' })['kind'], ms = 0, nth = 0): Fault {
  return { on: 'call', role: 'scheduler', of: 'bind', pod, nth, kind, ms };
}

const stories: readonly ((dice: Dice, at: number) => Story)[] = [
  /** Another scheduler reserves capacity by nominating a pod, and gives it up again. */
  function nominationIsWithdrawn(dice, at) {
    const name = 'nominated';
    const later = at + dice.int(3_000, 5_000);
    const end: Step = dice.chance(0.5)
      ? { at: later, kind: 'nominate', group: name, member: 0, node: '' }
      : { at: later, kind: 'delete-member', group: name, member: 0 };
    return {
      node: node(1_500),
      steps: [
        { at, kind: 'create-group', group: group(name, 2, [whole], { priority: 100 }) },
        { at: at + 500, kind: 'nominate', group: name, member: 0, node: 'story' },
        waiter(at + 1_500),
        end,
      ],
      faults: [],
    };
  },
  /** A pod is resized up, another pod waits, and the first is resized down. */
  function podShrinks(dice, at) {
    const name = 'resized';
    return {
      node: node(2_000),
      steps: [
        { at, kind: 'create-group', group: group(name, 1, [small]) },
        { at: at + 2_000, kind: 'resize-pod', group: name, member: 0, milliCpu: 1_750 },
        waiter(at + 4_500),
        { at: at + dice.int(6_500, 9_000), kind: 'resize-pod', group: name, member: 0, milliCpu: 250 },
      ],
      faults: [],
    };
  },
  /** Capacity is reserved for a member that cannot be bound, until its group no longer needs it. */
  function repairIsGivenUp(dice, at) {
    const name = 'abandoned';
    return {
      node: node(2_000),
      steps: [
        { at, kind: 'create-group', group: group(name, 2, [whole, whole]) },
        waiter(at + dice.int(1_000, 2_000)),
        { at: at + dice.int(2_500, 4_000), kind: 'delete-group', group: name, withMembers: false },
      ],
      faults: [],
      forbiddenPods: [`${name}-1`],
    };
  },
  /** The outcome of a Binding is unknown, and another pod waits for the same capacity. */
  function bindingIsInDoubt(dice, at) {
    const reads = dice.chance(0.5) ? dice.int(2, 6) : 0;
    return {
      node: node(1_000),
      steps: [waiter(at, 'doubted'), waiter(at + dice.int(10, 400), 'second')],
      faults: [
        onBinding('doubted', dice.pick(['lost-answer', 'done-500', 'done-503'])),
        ...Array.from({ length: reads }, (_, nth): Fault => {
          return { on: 'call', role: 'scheduler', of: 'read', pod: 'doubted', nth, kind: 'reject-403', ms: 0 };
        }),
      ],
      watchLagMs: 3_000,
    };
  },
  /** The leader binds a pod and crashes. Its successor has not seen the Binding and knows another pod that sorts first. */
  function standbyIsStale(dice, at) {
    const late = at + 3_000;
    return {
      node: node(1_000),
      steps: [
        waiter(late, 'first'),
        { ...waiter(late + 600, 'second'), priority: 100 } as Step,
        { at: late + dice.int(2_300, 3_000), kind: 'crash', role: 'scheduler', downMs: 40_000 },
      ],
      faults: [
        onBinding('first', 'slow-request', 2_000),
        {
          on: 'watch',
          role: 'scheduler',
          process: 'scheduler-2',
          resource: 'pods',
          nth: 0,
          notBefore: late + 1_500,
          kind: 'half-open',
          ms: 0,
        },
      ],
      needsStandby: true,
      watchLagMs: 20,
    };
  },
  /** A group is recreated while its members run, and one of them is replaced. */
  function groupIsMadeAgain(dice, at) {
    const name = 'remade';
    const remakeAt = at + 3_000;
    return {
      node: node(2_000),
      steps: [
        { at, kind: 'create-group', group: group(name, 2, [small, small], { recreation: 'same-name' }) },
        { at: remakeAt - dice.int(100, 1_000), kind: 'delete-group', group: name, withMembers: false },
        { at: remakeAt, kind: 'remake-group', group: name },
        { at: remakeAt + dice.int(500, 2_000), kind: 'delete-member', group: name, member: 0 },
      ],
      faults: [],
    };
  },
  /** A pod is replaced by another of the same name while its Binding is in flight. */
  function podIsReplaced(dice, at) {
    const name = 'replaced';
    return {
      node: node(1_000),
      steps: [
        { at, kind: 'create-group', group: group(name, 1, [whole], { recreation: 'same-name' }) },
        { at: at + dice.int(300, 800), kind: 'delete-member', group: name, member: 0 },
      ],
      faults: [onBinding(`${name}-0`, 'slow-request', 5_000)],
    };
  },
  /** A member is terminating, held by a finalizer, when its group is created. */
  function memberIsLeaving(dice, at) {
    const name = 'leaving';
    const held = { ...small, finalizer: true };
    return {
      node: node(2_000),
      steps: [
        {
          at,
          kind: 'create-group',
          group: group(name, 2, [held, held], { recreation: 'same-name', groupAfterMs: 1_000 }),
        },
        { at: at + dice.int(300, 900), kind: 'delete-member', group: name, member: 0 },
      ],
      faults: [],
    };
  },
  /** A Binding is rejected with a conflict although the pod is unbound. */
  function conflictIsFalse(_dice, at) {
    return { node: node(1_000), steps: [waiter(at, 'conflicting')], faults: [onBinding('conflicting', 'reject-409')] };
  },
  /** The first verdict of a waiting pod is rejected. */
  function verdictIsRejected(_dice, at) {
    return {
      node: node(1_000),
      steps: [waiter(at, 'speechless', 5_000)],
      faults: [{ on: 'call', role: 'scheduler', of: 'verdict', pod: 'speechless', nth: 0, kind: 'reject-403', ms: 0 }],
    };
  },
  /** A member ends, and its object stays. */
  function memberEnds(dice, at) {
    const name = 'ended';
    return {
      node: node(1_000),
      steps: [
        { at, kind: 'create-group', group: group(name, 1, [whole]) },
        waiter(at + 2_000),
        { at: at + dice.int(3_500, 6_000), kind: 'finish-member', group: name, member: 0, phase: 'Succeeded' },
      ],
      faults: [],
    };
  },
  /** Writes of the group status are repeatedly rejected with a conflict. */
  function statusIsRejected(_dice, at) {
    return {
      node: node(1_000),
      steps: [{ at, kind: 'create-group', group: group('unsaid', 1, [whole]) }],
      faults: Array.from({ length: 12 }, (_, nth): Fault => {
        return { on: 'call', role: 'controller', of: 'status', nth, kind: 'reject-409', ms: 0 };
      }),
      needsController: true,
    };
  },
  /** The first pod in the queue cannot be bound, and another could use its capacity. */
  function firstCannotBeBound(_dice, at) {
    return { node: node(1_000), steps: [waiter(at, 'failing'), waiter(at)], faults: [], forbiddenPods: ['failing'] };
  },
  /** A member is replaced before its group reaches PreBind and could be bound before the others. */
  function memberIsReplacedBeforePreBind(dice, at) {
    const name = 'replacing';
    return {
      node: node(2_000),
      steps: [
        { at, kind: 'create-group', group: group(name, 3, [small, small, small], { recreation: 'same-name' }) },
        { at: at + dice.int(50, 400), kind: 'delete-member', group: name, member: 0 },
      ],
      faults: [],
      needsPreBind: true,
    };
  },
  /** A member arrives while the quorum of its group is in PreBind, which may fail. If the member were bound first, it would be alone. */
  function memberComesDuringPreBind(dice, at) {
    const members = [small, small, small];
    return {
      node: node(2_000),
      steps: [{ at, kind: 'create-group', group: group('growing', 2, members, { spacingMs: dice.int(50, 500) }) }],
      faults: [],
      needsPreBind: true,
    };
  },
  /** The quorum is raised while its Bindings are in flight, to more members than fit. */
  function quorumIsRaised(dice, at) {
    const name = 'raised';
    const late = at + 5_000;
    const members = [small, small, small];
    return {
      node: node(1_000),
      steps: [
        {
          at: late,
          kind: 'create-group',
          group: group(name, 2, members, { recreation: 'new-name', repairGraceSeconds: 15 }),
        },
        { at: late + dice.int(50, 800), kind: 'resize-group', group: name, minMember: 3 },
      ],
      faults: [0, 1].map((member) => onBinding(`${name}-${member}`, 'slow-request', 1_000)),
    };
  },
];

/** Partially bound groups whose missing capacity another scheduler takes. */
const tearings: readonly ((dice: Dice, at: number) => Story)[] = [
  function groupIsTorn(dice, at) {
    const recreation = dice.pick(['never', 'same-name', 'new-name'] as const);
    const torn = group('torn', 2, [whole, whole], { recreation, ...drawRepair(dice), repairGraceSeconds: 3 });
    return {
      node: node(2_000),
      steps: [{ at, kind: 'create-group', group: torn }, taken(dice, at + 500)],
      faults: rejections('torn-1'),
    };
  },
  function twoAreTorn(dice, at) {
    const groups = ['torn', 'rent'].map((name) =>
      group(name, 2, [whole, whole], { recreation: 'same-name', repairGraceSeconds: 3, priority: dice.pick([0, 100]) }),
    );
    return {
      node: node(4_000),
      steps: [
        ...groups.map((each): Step => ({ at, kind: 'create-group', group: each })),
        taken(dice, at + 500),
        taken(dice, at + 550),
      ],
      faults: ['torn-1', 'rent-1'].flatMap(rejections),
    };
  },
];

/** Later stories have a draw of their own, so that they change no scenario that has one of the above. */
const later: readonly ((dice: Dice, at: number) => Story)[] = [
  /** A gang of two sizes waits until another pod ends. */
  function twoSizesWait(dice, at) {
    const members = dice.chance(0.5) ? [whole, small] : [small, whole, small];
    return {
      node: node(500 * members.length + 500),
      steps: [
        { at, kind: 'foreign-pod', node: 'story', milliCpu: dice.pick([500, 1_000]), forMs: dice.int(3_000, 6_000) },
        { at: at + 500, kind: 'create-group', group: group('uneven', members.length, members) },
      ],
      faults: [],
    };
  },
  /** A member beyond the quorum is deleted before its Binding is sent; a finalizer keeps it. */
  function memberLeavesBeforeItsBinding(dice, at) {
    const held = { ...small, finalizer: true };
    return {
      node: node(2_000),
      steps: [
        { at, kind: 'create-group', group: group('going', 1, [held, held]) },
        { at: at + dice.int(200, 4_000), kind: 'delete-member', group: 'going', member: dice.int(0, 1) },
      ],
      faults: [],
      needsPreBind: true,
    };
  },
  /** A node rejects a pod and then changes, so that it may admit the replacement. */
  function nodeChangesAfterItRejected(dice, at) {
    // After two rejections, the node is closed for longer than the cluster takes to settle.
    const refused = group('refused', 2, [small, small], { recreation: dice.pick(['same-name', 'new-name']) });
    return {
      node: node(1_500),
      steps: [
        { at, kind: 'node-rejects', node: 'story', pods: 2 },
        { at: at + 100, kind: 'create-group', group: refused },
        { at: at + dice.int(4_000, 9_000), kind: 'node-cordoned', node: 'story', forMs: 500 },
      ],
      faults: [],
      watchLagMs: dice.pick([0, 50]),
    };
  },
  /** A gang of Kubernetes itself starts over, and is only partially bound when the scheduler restarts. Its condition shows the first start. */
  function secondLifeIsTorn(dice, at) {
    const name = 'reborn';
    const brief = { ...whole, endsInMs: 100 };
    const later = at + dice.int(2_500, 4_000);
    return {
      node: node(2_000),
      steps: [
        {
          at,
          kind: 'create-group',
          group: group(name, 2, [brief, brief], {
            ...{ recreation: 'same-name', recreatesInMs: 100, native: { policy: 'gang' } },
          }),
        },
        ...[0, 1].map((member): Step => ({ at: later, kind: 'delete-member', group: name, member })),
        { at: later + 700, kind: 'foreign-pod', node: 'story', milliCpu: 1_000, forMs: 0, stays: true },
        { at: later + dice.int(1_200, 3_000), kind: 'crash', role: 'scheduler', downMs: 500 },
      ],
      faults: [1, 2, 3].map((nth) => onBinding(`${name}-1`, 'reject-403', 0, nth)),
      needsController: true,
      watchLagMs: 20,
    };
  },
  /** The pod that took the capacity of a partially bound group is terminating when the grace period of the group ends. */
  function capacityIsAboutToBeFree(dice, at) {
    const waiting = group('hopeful', 2, [whole, whole], { recreation: 'same-name', repairGraceSeconds: 3 });
    return {
      node: node(2_000),
      steps: [
        { at, kind: 'create-group', group: waiting },
        { at: at + 300, kind: 'foreign-pod', node: 'story', milliCpu: 1_000, forMs: dice.int(2_000, 3_300) },
      ],
      faults: [onBinding('hopeful-1', 'reject-429', 2_000)],
      watchLagMs: dice.pick([0, 50]),
    };
  },
];

function taken(dice: Dice, at: number): Step {
  const until = dice.chance(0.7) ? { forMs: 0, stays: true as const } : { forMs: dice.int(5_000, 20_000) };
  return { at, kind: 'foreign-pod', node: 'story', milliCpu: 1_000, ...until };
}

function rejections(pod: string): Fault[] {
  return [0, 1, 2].map((nth) => onBinding(pod, 'reject-403', 0, nth));
}

export function drawRepair(dice: Dice): Pick<GroupPlan, 'repairPolicy' | 'repairGraceSeconds'> {
  const policy = dice.pick([undefined, undefined, 'Release', 'KeepTrying'] as const);
  const seconds = dice.pick([undefined, undefined, 0, 3, 20, 90]);
  return {
    ...(policy !== undefined && { repairPolicy: policy }),
    ...(seconds !== undefined && { repairGraceSeconds: seconds }),
  };
}

export function drawTearing(dice: Dice): Story {
  return dice.pick(tearings)(dice, dice.int(100, 4_000));
}

export function drawStory(dice: Dice): Story {
  return dice.pick(stories)(dice, dice.int(100, 4_000));
}

export function drawLaterStory(dice: Dice): Story {
  return dice.pick(later)(dice, dice.int(100, 4_000));
}
