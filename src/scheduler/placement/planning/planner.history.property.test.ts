import { expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { hashText } from '../../../base/hash-text.ts';
import { Pace } from '../../../base/pace.ts';
import { seededRandom } from '../../../base/random.ts';
import type { NodeInfo, NodeView } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { describeDiagnosis } from '../../../framework/diagnosis.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import type { NodeOptions } from '../../../testkit/builders/node.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { Picture } from '../../../testkit/picture.ts';
import type { PictureOptions } from '../../../testkit/picture.ts';
import type { Plan, Planner } from './planner.ts';

type Extra = NonNullable<PictureOptions['extra']>[number];
const no = new Status('Unschedulable', 'no');
const never = new Status('UnschedulableAndUnresolvable', 'never');

interface Knobs {
  readonly throwsAt: number;
  readonly scale: number;
  readonly flags: readonly boolean[];
}

const onIt = ({ pods }: NodeView): number => {
  let sum = 0;
  for (const { template } of pods.values()) sum += template.nonZeroMilliCpu;
  return sum;
};

/** Signed, in bulk, not in whole numbers; fails on nodes in some state. */
function bulk(nodes: () => readonly NodeInfo[], { throwsAt, scale, flags }: Knobs): Extra {
  const filter = (node: NodeView): Status | undefined => {
    if (flags[0]! && node.pods.size === throwsAt) throw new Error('too odd to filter');
    return hashText(`b${node.name}${node.pods.size}`) % 5 === 0 ? no : undefined;
  };
  const score = (node: NodeView): number => {
    if (flags[1]! && node.pods.size === throwsAt) throw new Error('too odd to score');
    return (((hashText(node.name) % 1000) - 500) / 7 - onIt(node) / 3) * scale;
  };
  return {
    name: 'Bulk',
    weight: 3,
    sign: () => '',
    filter: (_s, _p, node) => filter(node),
    filterAll: (_s, _p, indexes, size) => {
      let left = 0;
      for (let i = 0; i < size; i++) {
        const index = indexes[i]!;
        if (filter(nodes()[index]!) === undefined) indexes[left++] = index;
      }
      return left;
    },
    score: (_s, _p, node) => score(node),
    scoreAll: (_s, _p, indexes, size, scores) => {
      for (let i = 0; i < size; i++) scores[indexes[i]!] = score(nodes()[indexes[i]!]!);
    },
    ...(flags[2]! && {
      normalizeScore: (_s: CycleState, _p: Pod, scores: Float64Array) => {
        let [least, greatest] = [Infinity, -Infinity];
        for (const score of scores) [least, greatest] = [Math.min(least, score), Math.max(greatest, score)];
        for (let i = 0; i < scores.length; i++)
          scores[i] = greatest === least ? 33.3 : (100 * (scores[i]! - least)) / (greatest - least);
      },
    }),
  };
}

const skipping: Extra = {
  name: 'Skipping',
  weight: 2,
  sign: ({ labels }) => labels.team ?? '',
  filter: (_s, { labels }, node) =>
    hashText(`${labels.team}${node.name}${node.pods.size}`) % 9 === 0 ? never : undefined,
  preScore: (_s, _p, feasible) => (feasible().length % 2 === 0 ? skip : undefined),
  score: (_s, { labels }, node) => (hashText(`${labels.team}${node.name}`) % 17) / 11 + node.pods.size * 0.1,
};

const unsigned: Extra = {
  name: 'Unsigned',
  weight: 1,
  filter: (_s, { labels }, node) => (hashText(`${labels.own}${node.name}`) % 9 === 0 ? no : undefined),
  score: (_s, { labels }, node) => (hashText(`${labels.own}${node.name}`) % 5) / 3 + node.pods.size / 7,
  normalizeScore: (_s, _p, scores) => {
    const greatest = Math.max(...scores);
    if (greatest > 0) for (let i = 0; i < scores.length; i++) scores[i]! *= 100 / greatest;
  },
};

const far: Extra = {
  name: 'Far',
  weight: 1,
  readsOtherNodes: true,
  sign: () => '',
  preFilter: () => undefined,
  filter: (_s, _p, node) => (node.pods.size > 4 ? no : undefined),
};

const accounting: Extra = {
  name: 'Accounting',
  reserve: (_s, { labels }, node) => (hashText(`r${labels.own}${node.name}`) % 9 === 0 ? no : undefined),
};

class World {
  readonly nodes = new Map<string, NodeOptions>();
  readonly pods = new Map<string, PodOptions>();
}

const teams = ['red', 'blue'];

/** Each in its turn: a failing plugin beside others, scores beyond measure, many nodes, more kinds than tables. */
const modes = ['', 'order', '', 'huge', '', 'grow', 'order', 'kinds'] as const;

function play(seed: number): { complete: number; refused: number; failed: number } {
  const mode = modes[seed % modes.length]!;
  const names = Array.from({ length: mode === 'grow' ? 110 : 14 }, (_, i) => `n${i}`);
  const random = seededRandom(seed);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const pick = <T>(from: readonly T[]): T => from[upTo(from.length - 1)]!;
  const flag = (p: number): boolean => random() < p;
  const knobs: Knobs = {
    throwsAt: 2 + upTo(2),
    scale: mode === 'huge' ? pick([1, 1e305]) : pick([1, 1, 0.1, 2 ** 54, 1e-9]),
    flags:
      mode === 'grow' || mode === 'kinds'
        ? [false, false, flag(0.5)]
        : [flag(mode === 'order' ? 0.6 : 0.2), flag(0.2), flag(0.5)],
  };
  const chosen = [flag(0.6), flag(0.5), flag(0.2), flag(0.15), flag(0.2)];
  const seedOfPlanner = upTo(5);
  const first = flag(0.4);
  const make = (): Picture => {
    const all: Extra[] = [bulk(() => picture.cluster.nodes, knobs), skipping, unsigned, far, accounting];
    if (mode === 'order') all.unshift(...all.splice(1, 1));
    const extra = all.filter((_, i) => chosen[i]!);
    const asFirst = extra.map(({ weight = 1, ...plugin }) => ({
      name: plugin.name,
      factory: (): Plugin => plugin,
      weight,
    }));
    const picture: Picture = first
      ? new Picture({ plugins: [...asFirst, ...defaultPlugins], seed: seedOfPlanner })
      : new Picture({ plugins: defaultPlugins, extra, seed: seedOfPlanner });
    for (let i = 0; i < 28; i++) picture.cluster.resources.idOf(`example.com/common-${i}`);
    for (let i = 0; i < 3; i++) picture.cluster.resources.idOf(`example.com/rare-${i}`);
    return picture;
  };
  const world = new World();
  const old = make();
  const setNode = (picture: Picture, options: NodeOptions): void => void picture.node(options);
  const setPod = (picture: Picture, options: PodOptions): Pod => picture.pod(options);
  const tallies = { complete: 0, refused: 0, failed: 0 };
  let count = 0;
  const nodeOptions = (name: string): NodeOptions => ({
    name,
    uid: name,
    cpu: 1 + upTo(5),
    memory: `${1 + upTo(7)}Gi`,
    pods: pick([3, 5, 110]),
    taints: flag(0.3) ? [pick(['a:NoSchedule', 'b:PreferNoSchedule', 'c=x:PreferNoSchedule', 'd=y:NoExecute'])] : [],
    labels: { ...(flag(0.8) && { zone: pick(['z1', 'z2', 'z3']) }), ...(flag(0.4) && { disk: 'ssd' }) },
    unschedulable: flag(0.07),
    allocatable: {
      ...(flag(0.3) && { 'example.com/common-2': upTo(4) }),
      ...(flag(0.2) && { 'example.com/rare-1': upTo(4) }),
    },
  });
  const podOptions = (): PodOptions => ({
    cpu: pick(['100m', '500m', '1', '2', '0']),
    ...(flag(0.5) && { memory: pick(['100Mi', '1Gi', '3Gi']) }),
    requests: { ...(flag(0.1) && { 'example.com/common-2': 1 }), ...(flag(0.1) && { 'example.com/rare-1': 1 }) },
    hostPorts: flag(0.1) ? [80] : [],
    labels: { team: pick(teams) },
    tolerations: flag(0.3)
      ? [
          pick([
            { key: 'a', operator: 'Exists' },
            { key: 'b', operator: 'Exists' },
          ]),
        ]
      : [],
    ...(flag(0.1) && { nodeSelector: { disk: 'ssd' } }),
    ...(flag(0.2) && {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 5, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } },
        ],
      },
    }),
    ...(flag(0.25) && {
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1 + upTo(1),
            topologyKey: pick(['zone', 'kubernetes.io/hostname']),
            whenUnsatisfiable: pick(['ScheduleAnyway', 'ScheduleAnyway', 'DoNotSchedule']),
            labelSelector: { matchLabels: { team: pick(teams) } },
          },
        ],
      },
    }),
    priority: pick([0, 0, 0, 5]),
  });
  const kinds = Array.from({ length: mode === 'kinds' ? 120 : 4 }, (_, i): PodOptions => {
    const options = podOptions();
    return mode === 'kinds' ? { ...options, cpu: `${100 + i}m` } : options;
  });
  for (const name of names.slice(0, 4 + upTo(8))) world.nodes.set(name, nodeOptions(name));
  for (const options of world.nodes.values()) setNode(old, options);

  const gangOf = (n: number): PodOptions[] => {
    const some =
      mode === 'kinds' ? kinds.filter(() => flag(0.3)) : flag(0.5) ? [pick(kinds)] : [pick(kinds), pick(kinds)];
    if (some.length === 0) some.push(pick(kinds));
    return Array.from({ length: n }, () => {
      const kind = pick(some);
      const name = `p${count++}`;
      return {
        ...kind,
        name,
        uid: name,
        createdAt: 1e12 + count * 1000,
        labels: { ...kind.labels, own: flag(0.5) ? 'x' : `${upTo(3)}` },
      };
    });
  };
  const said = (plan: Plan): unknown => {
    const { placements, placed, blocked, refusedBy, pending, never, isExhaustive } = plan;
    return {
      placements: placements.map(({ pod, nodeName }) => `${pod.name} ${nodeName}`),
      placed,
      blocked: blocked && `${blocked.pod.name}: ${describeDiagnosis(blocked)}`,
      nodes: blocked?.refusal.kind === 'nodes' ? [...blocked.refusal.reasons].sort() : undefined,
      refusers: blocked && [...blocked.plugins].sort(),
      refusedBy: [...refusedBy].sort(),
      pending: [...pending],
      never,
      isExhaustive,
    };
  };
  /** Answers what was said; commits the plan when it is asked to. */
  const ask = (
    picture: Picture,
    planner: Planner,
    members: readonly Pod[],
    needed: number,
    how: {
      readonly work?: number;
      readonly within?: ReadonlySet<string>;
      readonly out?: readonly string[];
      readonly giveUpAt?: number;
      readonly narrow?: string;
    },
  ): { said: unknown; plan: Plan | undefined } => {
    const transaction = picture.cluster.begin();
    if (how.out !== undefined) transaction.takeOut(how.out.flatMap((uid) => picture.cluster.pod(uid) ?? []));
    const request = {
      profile: picture.profile,
      members,
      needed,
      groupState: new CycleState(),
      within: how.within,
      ...(how.narrow !== undefined && {
        narrowingOf: ({ labels }: Pod) => {
          if (labels.own === '1') return undefined;
          const of = (name: string): number => hashText(`${how.narrow} ${labels.own} ${name}`);
          const some = names.filter((name) => of(name) % 4 > 0);
          return {
            allowed: new Map(some.map((name) => [name, (of(name) % 70) / 7])),
            refused: new Map(names.filter((name) => of(name) % 4 === 0).map((name) => [name, no])),
          };
        },
      }),
    };
    const pace = new Pace();
    const open = planner.steps(request, transaction, pace);
    let plan: Plan | undefined;
    let text: unknown;
    try {
      for (let steps = 0; plan === undefined; steps++) {
        if (how.work !== undefined) pace.allow(how.work);
        if (steps === how.giveUpAt) {
          open.return(undefined as never);
          break;
        }
        const next = open.next();
        if (next.done === true) plan = next.value;
        if (how.work !== undefined) {
          transaction.suspend();
          // Somebody looks.
          for (const id of [0, 1, 3]) void picture.cluster.amounts.of(id);
          transaction.resume();
        }
      }
      if (plan !== undefined) {
        text = said(plan);
        picture.planner.unreserve(picture.profile, plan.placements);
      }
    } catch (error) {
      if ((error as Error).name !== 'PluginFailure') throw error;
      text = `thrown ${(error as Error).message}`;
    }
    transaction.rollback();
    return { said: text, plan };
  };

  for (let round = 0; round < 12; round++) {
    for (let i = upTo(mode === 'grow' ? 25 : 3); i > 0; i--) {
      const dice = random();
      if (dice < 0.5) {
        const name = pick(names);
        const options = nodeOptions(name);
        world.nodes.set(name, options);
        setNode(old, options);
      } else if (dice < 0.62 && world.nodes.size > 3) {
        const name = pick([...world.nodes.keys()]);
        world.nodes.delete(name);
        old.cluster.removeNode(name);
      } else if (dice < 0.75 && world.pods.size > 0) {
        const uid = pick([...world.pods.keys()]);
        world.pods.delete(uid);
        old.cluster.removePod(uid);
      } else if (dice < 0.85 && world.nodes.size > 0) {
        const [options] = gangOf(1);
        const claim = { ...options!, nominatedNodeName: pick([...world.nodes.keys()]), priority: pick([0, 9]) };
        world.pods.set(claim.uid!, claim);
        setPod(old, claim);
      } else if (world.nodes.size > 0) {
        const [options] = gangOf(1);
        const bound = { ...options!, nodeName: pick([...world.nodes.keys()]) };
        world.pods.set(bound.uid!, bound);
        setPod(old, bound);
      }
    }
    // Claims go again, as a rule.
    if (flag(0.7)) {
      for (const [uid, { nominatedNodeName }] of [...world.pods]) {
        if (nominatedNodeName === undefined) continue;
        world.pods.delete(uid);
        old.cluster.removePod(uid);
      }
    }
    const gang = gangOf(1 + upTo(mode === 'kinds' ? 45 : mode === 'grow' ? 25 : 5));
    const needed = Math.max(1, gang.length - upTo(2));
    const members = gang.map((options) => setPod(old, options));
    // History: other questions, trials, ones that are given up.
    for (let i = upTo(3); i > 0; i--) {
      const some = members.filter(() => flag(0.5));
      if (some.length === 0) continue;
      ask(old, old.planner, some, Math.max(1, some.length - upTo(1)), {
        ...(flag(0.4) && { work: pick([0, 5, 50]) }),
        ...(flag(0.3) && { within: new Set(names.filter(() => flag(0.5))) }),
        ...(flag(0.3) && { out: [...world.pods.keys()].filter(() => flag(0.5)) }),
        ...(flag(0.3) && { giveUpAt: upTo(4) }),
        ...(flag(0.2) && { narrow: `${upTo(1)}` }),
      });
    }
    const how = {
      ...(flag(0.3) && { within: new Set(names.filter(() => flag(0.5))) }),
      ...(flag(0.3) && {
        out: [...world.pods.keys()].filter((uid) => world.pods.get(uid)!.nodeName !== undefined && flag(0.5)),
      }),
    };
    if (flag(0.2)) Object.assign(how, { narrow: `${upTo(1)}` });
    const paced = flag(0.3) ? { work: pick([0, 5, 50]) } : {};
    const answer = ask(old, old.planner, members, needed, { ...how, ...paced });

    const anew = make();
    for (const options of world.nodes.values()) setNode(anew, options);
    for (const options of world.pods.values()) setPod(anew, options);
    const again = gang.map((options) => setPod(anew, options));
    const fresh = ask(anew, anew.planner, again, needed, how);
    expect(answer.said, `seed ${seed}, round ${round}`).toEqual(fresh.said);
    if (typeof answer.said === 'string' || JSON.stringify(answer.said).includes('too odd')) tallies.failed++;
    else if (answer.plan!.blocked === undefined) tallies.complete++;
    else tallies.refused++;
    // Some of them land.
    for (const [i, pod] of members.entries()) {
      const place = answer.plan?.placements.find((placement) => placement.pod === pod);
      if (place !== undefined && how.out === undefined && answer.plan!.blocked === undefined && flag(0.8)) {
        const bound = { ...gang[i]!, nodeName: place.nodeName };
        world.pods.set(pod.uid, bound);
        const transaction = old.cluster.begin();
        transaction.assume(pod, old.cluster.node(place.nodeName)!);
        transaction.commit();
        if (flag(0.5)) setPod(old, bound);
        else {
          old.cluster.forget(pod);
          setPod(old, bound);
        }
      } else {
        old.cluster.removePod(pod.uid);
      }
    }
  }
  return tallies;
}

it('what has been asked and has happened before changes no answer', () => {
  const total = { complete: 0, refused: 0, failed: 0 };
  for (let seed = 1; seed <= 120; seed++) {
    const { complete, refused, failed } = play(seed);
    total.complete += complete;
    total.refused += refused;
    total.failed += failed;
  }
  expect(Math.min(...Object.values(total)), JSON.stringify(total)).toBeGreaterThan(20);
});
