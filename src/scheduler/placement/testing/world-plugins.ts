import type { Pod } from '../../../api/pod.ts';
import { hashText } from '../../../base/hash-text.ts';
import type { Random } from '../../../base/random.ts';
import type { NodeInfo, NodeView } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';

export type WorldPlugin = Plugin & { readonly weight?: number };

export const no = new Status('Unschedulable', 'no');
const never = new Status('UnschedulableAndUnresolvable', 'never');

/** A number that only the pod's own label and the node's name decide. */
const chance = (of: string, { labels }: Pod, node: string): number => hashText(`${of} ${labels.own} ${node}`) % 100;

/** Signs nothing, so that no two pods are equivalent. */
export const unsigned: WorldPlugin = {
  name: 'Unsigned',
  weight: 1,
  filter: (_state, pod, { name }) =>
    chance('filter', pod, name) < 12 ? no : chance('filter', pod, name) < 18 ? never : undefined,
  score: (_state, pod, { name, pods }) => (chance('score', pod, name) % 5) / 3 + pods.size / 7,
  normalizeScore: (_state, _pod, scores) => {
    const greatest = Math.max(...scores);
    if (greatest > 0) for (let i = 0; i < scores.length; i++) scores[i]! *= 100 / greatest;
  },
};

/** Tells teams apart, and prefers nodes where many pods are; the score is normalized. */
export const team: WorldPlugin = {
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

/** PreScore skips by how many nodes fit. */
export const skipping: WorldPlugin = {
  name: 'Skipping',
  weight: 2,
  sign: ({ labels }) => labels.team ?? '',
  filter: (_state, { labels }, { name, pods }) =>
    hashText(`${labels.team}${name}${pods.size}`) % 9 === 0 ? never : undefined,
  preScore: (_state, _pod, feasible) => (feasible().length % 2 === 0 ? skip : undefined),
  score: (_state, { labels }, { name, pods }) => (hashText(`${labels.team}${name}`) % 17) / 11 + pods.size * 0.1,
};

/** Sends some pods to some nodes, by PreFilter alone. */
export const pinning: WorldPlugin = {
  name: 'Pinning',
  sign: ({ labels }) => labels.pin ?? '',
  preFilter: (_state, { labels }) =>
    labels.pin === undefined ? undefined : { nodeNames: new Set(labels.pin.split('.')) },
};

/** Reserve rejects by an account of its own. */
export const accounting: WorldPlugin = {
  name: 'Accounting',
  reserve: (_state, pod, { name }) => (chance('reserve', pod, name) < 12 ? no : undefined),
};

/** Reads the node alone, and says that it reads others. */
export const far: WorldPlugin = {
  name: 'Far',
  weight: 1,
  readsOtherNodes: true,
  sign: () => '',
  preFilter: () => undefined,
  filter: (_state, _pod, node) => (node.pods.size > 4 ? no : undefined),
};

export interface BulkOptions {
  /** Filter and Score fail on nodes with so many pods. */
  readonly throwsAt: number;
  readonly filterThrows: boolean;
  readonly scoreThrows: boolean;
  readonly normalizes: boolean;
  /** Of its scores, which are no whole numbers. */
  readonly scale: number;
}

/** Filters and scores all nodes at once. */
export function bulk(nodes: () => readonly NodeInfo[], options: BulkOptions): WorldPlugin {
  const filter = (node: NodeView): Status | undefined => {
    if (options.filterThrows && node.pods.size === options.throwsAt) throw new Error('too odd to filter');
    return hashText(`b${node.name}${node.pods.size}`) % 5 === 0 ? no : undefined;
  };
  const score = (node: NodeView): number => {
    if (options.scoreThrows && node.pods.size === options.throwsAt) throw new Error('too odd to score');
    let onIt = 0;
    for (const { template } of node.pods.values()) onIt += template.nonZeroMilliCpu;
    return (((hashText(node.name) % 1000) - 500) / 7 - onIt / 3) * options.scale;
  };
  return {
    name: 'Bulk',
    weight: 3,
    sign: () => '',
    filter: (_state, _pod, node) => filter(node),
    filterAll: (_state, _pod, indexes, size) => {
      let left = 0;
      for (let i = 0; i < size; i++) {
        const index = indexes[i]!;
        if (filter(nodes()[index]!) === undefined) indexes[left++] = index;
      }
      return left;
    },
    score: (_state, _pod, node) => score(node),
    scoreAll: (_state, _pod, indexes, size, scores) => {
      for (let i = 0; i < size; i++) scores[indexes[i]!] = score(nodes()[indexes[i]!]!);
    },
    ...(options.normalizes && {
      normalizeScore: (_state: CycleState, _pod: Pod, scores: Float64Array) => {
        let [least, greatest] = [Infinity, -Infinity];
        for (const each of scores) [least, greatest] = [Math.min(least, each), Math.max(greatest, each)];
        for (let i = 0; i < scores.length; i++)
          scores[i] = greatest === least ? 33.3 : (100 * (scores[i]! - least)) / (greatest - least);
      },
    }),
  };
}

/** node name -> the pods there, as far as a plugin that reads all nodes is concerned */
type Occupancy = Map<string, Pod[]>;

/** What keeps a pod off a node because of the pods that are where they are. */
export interface NeighborRule {
  readonly kind: 'apart' | 'nearLeader' | 'spread';
  readonly signs: boolean;
  /** How it knows where pods are: it looks in each Filter, in each PreFilter, or is notified of each placement. */
  readonly knows: 'looks' | 'again' | 'notified';
  readonly skips: boolean;
  readonly scores: boolean;
}

/** Pods without this label are none of the rule's business. */
export const isUnderRule = ({ labels }: Pod): boolean => labels.app !== undefined;

export function occupancyOf(nodes: readonly NodeInfo[]): Occupancy {
  return new Map(nodes.map(({ name, pods }) => [name, [...pods.values()]]));
}

export function isKeptOff(
  { kind }: NeighborRule,
  pod: Pod,
  node: NodeView,
  nodes: readonly NodeInfo[],
  occupancy: Occupancy,
): boolean {
  const alike = (name: string): number =>
    (occupancy.get(name) ?? []).filter(({ labels }) => labels.app === pod.labels.app).length;
  switch (kind) {
    case 'apart':
      return alike(node.name) > 0;
    case 'nearLeader':
      if (pod.labels.app === 'leader') return false;
      return !(occupancy.get(node.name) ?? []).some(({ labels }) => labels.app === 'leader');
    case 'spread':
      return alike(node.name) > Math.min(...nodes.map(({ name }) => alike(name)));
  }
}

const occupancyKey = 'Neighbors/occupancy';

/** A plugin that reads other nodes, and holds the rule. */
export function neighbors(nodes: () => readonly NodeInfo[], rule: NeighborRule): WorldPlugin {
  const notified: Partial<Plugin> = {
    preFilterAddPod: (state, _pod, added, node) => {
      state.read<Occupancy>(occupancyKey)!.get(node.name)!.push(added);
      return undefined;
    },
    preFilterRemovePod: (state, _pod, removed, node) => {
      const here = state.read<Occupancy>(occupancyKey)!.get(node.name)!;
      here.splice(
        here.findIndex(({ uid }) => uid === removed.uid),
        1,
      );
      return undefined;
    },
  };
  return {
    name: 'Neighbors',
    weight: 3,
    readsOtherNodes: true,
    ...(rule.signs && { sign: (pod: Pod) => pod.labels.app ?? '' }),
    preFilter: (state, pod) => {
      if (rule.skips && !isUnderRule(pod)) return skip;
      if (rule.knows !== 'looks') state.write(occupancyKey, occupancyOf(nodes()));
      return undefined;
    },
    ...(rule.knows === 'notified' && notified),
    filter: (state, pod, node) => {
      if (!isUnderRule(pod)) return undefined;
      const occupancy = rule.knows === 'looks' ? occupancyOf(nodes()) : state.read<Occupancy>(occupancyKey)!;
      return isKeptOff(rule, pod, node, nodes(), occupancy) ? no : undefined;
    },
    ...(rule.scores && {
      preScore: (_state: CycleState, pod: Pod) => (isUnderRule(pod) ? undefined : skip),
      score: (_state: CycleState, pod: Pod, { name }: NodeView) => {
        const all = nodes().flatMap(({ pods }) => [...pods.values()]);
        return (all.filter(({ labels }) => labels.app === pod.labels.app).length * 7 + hashText(name)) % 101;
      },
    }),
  };
}

const rejections: readonly unknown[] = [
  skip,
  { nodeNames: new Set(['n0', 'n1']) },
  new Status('Unschedulable', 'not now'),
];
const nonsense: readonly unknown[] = [
  ...rejections,
  'no',
  null,
  0,
  NaN,
  {},
  { nodeNames: 'a' },
  { code: 'Unschedulable', reasons: ['of another copy'] },
  new Status('Error', 'failed'),
];

/**
 * A plugin that has no rule: now and then a point rejects, and unless it `isCivil` also answers nonsense, throws or rejects. It logs each
 * Reserve and Unreserve, whatever these answer in the end.
 */
export function unruly(name: string, random: Random, isCivil: boolean, log: string[]): WorldPlugin {
  const often = isCivil ? 0.1 : random() * 0.15;
  const has = (): boolean => random() < 0.5;
  const pick = (from: readonly unknown[]): unknown => from[Math.floor(random() * from.length)];
  function now<T extends unknown[]>(often: number, fine: (...args: T) => unknown, civil: readonly unknown[] = []) {
    return (...args: T): never => {
      if (random() >= often) return fine(...args) as never;
      if (isCivil) return (civil.length === 0 ? fine(...args) : pick(civil)) as never;
      const answer = pick(nonsense);
      if (random() < 0.4) throw random() < 0.5 ? new Error('a bug') : answer;
      if (random() < 0.1) return Promise.reject(new Error('a bug')) as never;
      return answer as never;
    };
  }
  const account = (what: string) => (_state: CycleState, pod: Pod, at: unknown) => {
    log.push(`${what} ${name} ${pod.name} ${typeof at === 'string' ? at : (at as { name: string }).name}`);
  };
  const nothing = (): undefined => undefined;
  const reserve = account('+');
  const unreserve = account('-');
  return {
    name,
    weight: 1,
    readsOtherNodes: has(),
    ...(has() && { sign: now(often / 10, () => '') }),
    ...(has() && { preFilter: now(isCivil ? 0.35 : often / 3, nothing, rejections) }),
    ...(has() && { preFilterAddPod: now(often, nothing), preFilterRemovePod: now(often, nothing) }),
    ...(has() && { filter: now(isCivil ? often : often / 3, nothing, [no]) }),
    ...(has() && { preScore: now(often, nothing) }),
    ...(has() && { score: now(often / 5, () => 1), normalizeScore: now(often, nothing) }),
    reserve: (state, pod, node) => {
      reserve(state, pod, node);
      return now(often, nothing, [no])();
    },
    unreserve: (state, pod, nodeName) => {
      unreserve(state, pod, nodeName);
      return now(often, nothing)();
    },
  };
}
