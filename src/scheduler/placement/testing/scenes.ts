import type { Pod } from '../../../api/pod.ts';
import { hashText } from '../../../base/hash-text.ts';
import { seededRandom } from '../../../base/random.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { Picture } from '../../../testkit/picture.ts';
import type { PictureOptions } from '../../../testkit/picture.ts';

/** A cluster, plugins and a gang, made up by a seed. All plugins answer by what they read, not by chance. */
export interface Scene {
  readonly picture: Picture;
  readonly members: readonly Pod[];
  /** Another gang like it, member by member. */
  readonly twin: readonly Pod[];
  readonly needed: number;
  /** Some plugin looks at other nodes, or Reserve refuses: a node that was best may be left aside. */
  readonly isPlain: boolean;
}

type Extra = NonNullable<PictureOptions['extra']>[number];

const no = new Status('Unschedulable', 'no');
const never = new Status('UnschedulableAndUnresolvable', 'never');

/** A number that only the pod's own label and the node's name decide. */
const chance = (of: string, { labels }: Pod, node: string): number => hashText(`${of} ${labels.own} ${node}`) % 100;

/** Signs nothing, so that every pod is like nobody. */
const unsigned: Extra = {
  name: 'Unsigned',
  weight: 1,
  filter: (_state, pod, { name }) =>
    chance('filter', pod, name) < 20 ? no : chance('filter', pod, name) < 30 ? never : undefined,
  score: (_state, pod, { name, pods }) => (chance('score', pod, name) + pods.size) % 7,
};

/** Tells teams apart, and wants them where many are; the score is normalised. */
const team: Extra = {
  name: 'Team',
  weight: 2,
  sign: ({ labels }) => labels.team ?? '',
  filter: (_state, { labels }, { name }) => (hashText(`${labels.team} ${name}`) % 8 === 0 ? never : undefined),
  score: (_state, { labels }, { name, pods }) => (hashText(`${labels.team}${name}`) % 50) + pods.size * 3,
  normalizeScore: (_state, _pod, scores) => {
    const greatest = Math.max(...scores);
    if (greatest > 0) for (let i = 0; i < scores.length; i++) scores[i]! *= 100 / greatest;
  },
};

/** Sends some pods to some nodes, by PreFilter alone. */
const pinning: Extra = {
  name: 'Pinning',
  sign: ({ labels }) => labels.pin ?? '',
  preFilter: (_state, { labels }) =>
    labels.pin === undefined ? undefined : { nodeNames: new Set(labels.pin.split('.')) },
};

/** Has an account of its own. */
const accounting: Extra = {
  name: 'Accounting',
  reserve: (_state, pod, { name }) => (chance('reserve', pod, name) < 15 ? no : undefined),
};

/** Wants no two of a team on a node; looks at all of them. */
function apart(picture: () => Picture): Extra {
  return {
    name: 'Apart',
    readsOtherNodes: true,
    sign: ({ labels }) => labels.team ?? '',
    preFilter: (state: CycleState, pod) => {
      const taken = picture().cluster.nodes.filter(({ pods }) =>
        [...pods.values()].some(({ labels }) => labels.team === pod.labels.team),
      );
      state.write('Apart/taken', new Set(taken.map(({ name }) => name)));
      return undefined;
    },
    filter: (state: CycleState, { labels }, { name }) =>
      labels.team === 'apart' && state.read<Set<string>>('Apart/taken')!.has(name) ? no : undefined,
  };
}

export function sceneOf(seed: number): Scene {
  const random = seededRandom(seed);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const pick = <T>(from: readonly T[]): T => from[upTo(from.length - 1)]!;
  const extra: Extra[] = [];
  if (random() < 0.5) extra.push(team);
  if (random() < 0.3) extra.push(pinning);
  if (random() < 0.3) extra.push(unsigned);
  const local = extra.length;
  if (random() < 0.2) extra.push(accounting);
  if (random() < 0.2) extra.push(apart(() => picture));
  const mine = extra.slice(0, local);
  // Some of them before Tutti's own, so that who refuses first is not always the same.
  const isFirst = random() < 0.5;
  const first: PictureOptions['plugins'] = mine.map(({ weight = 1, ...plugin }) => ({
    name: plugin.name,
    weight,
    factory: (): Plugin => plugin,
  }));
  const picture: Picture = isFirst
    ? new Picture({ plugins: [...first, ...defaultPlugins], extra: extra.slice(local), seed: upTo(2) })
    : new Picture({ plugins: defaultPlugins, extra, seed: upTo(2) });
  const nodeNames = Array.from({ length: 1 + upTo(4) }, (_, i) => `n${i}`);
  for (const name of nodeNames) {
    picture.node({
      name,
      cpu: 1 + upTo(5),
      pods: 1 + upTo(6),
      taints: random() < 0.2 ? [pick(['a:NoSchedule', 'b:PreferNoSchedule'])] : [],
      labels: random() < 0.5 ? { disk: 'ssd' } : {},
      unschedulable: random() < 0.1,
    });
  }
  for (let i = upTo(3); i > 0; i--) {
    const where = pick(nodeNames);
    if (random() < 0.5) picture.pod({ name: `running-${i}`, cpu: pick(['500m', '1']), nodeName: where });
    else picture.pod({ name: `claim-${i}`, cpu: 1, nominatedNodeName: where, priority: pick([0, 5, 9]) });
  }
  const kinds = Array.from({ length: 1 + upTo(3) }, (): PodOptions => ({
    cpu: pick(['200m', '500m', '1', '2', '4']),
    hostPorts: random() < 0.15 ? [80] : [],
    tolerations: random() < 0.2 ? [{ key: 'a', operator: 'Exists' }] : [],
    ...(random() < 0.2 && { nodeSelector: { disk: 'ssd' } }),
    labels: {
      team: pick(['red', 'blue', 'apart']),
      ...(random() < 0.2 && { pin: [pick(nodeNames), pick(nodeNames)].join('.') }),
    },
    priority: pick([0, 0, 0, 6]),
  }));
  const shapes = Array.from({ length: 1 + upTo(11) }, () => pick(kinds));
  const gang = (group: string): readonly Pod[] =>
    shapes.map((shape, i) =>
      picture.pod({ ...shape, name: `${group}-${i}`, group, labels: { ...shape.labels!, own: `${i}` } }),
    );
  const needed = Math.max(1, shapes.length - upTo(Math.ceil(shapes.length / 2)));
  for (const name of ['first', 'second']) picture.group({ name, minMember: needed });
  return { picture, members: gang('first'), twin: gang('second'), needed, isPlain: extra.length === local };
}
