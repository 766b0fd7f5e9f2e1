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

/** Returns a number that depends only on the pod's `own` label and the node's name. */
const chance = (of: string, { labels }: Pod, node: string): number => hashText(`${of} ${labels.own} ${node}`) % 100;

/** Signs nothing, so that no two pods are equivalent. */
export const unsigned: WorldPlugin = {
  name: 'Unsigned',
  weight: 1,
  filter: (_state, pod, { name }) =>
    chance('filter', pod, name) < 12 ? no : chance('filter', pod, name) < 18 ? never : undefined,
  score: (_state, pod, { name, pods }) => (chance('score', pod, name) % 5) / 3 + pods.size / 7,
  normalizeScore: (_state, _pod, scores) => {
    const highest = Math.max(...scores);
    if (highest > 0) for (let i = 0; i < scores.length; i++) scores[i]! *= 100 / highest;
  },
};

/** Treats teams differently, and prefers nodes with many pods. Normalizes its scores. */
export const team: WorldPlugin = {
  name: 'Team',
  weight: 2,
  sign: ({ labels }) => labels.team ?? '',
  filter: (_state, { labels }, { name }) => (hashText(`${labels.team} ${name}`) % 8 === 0 ? never : undefined),
  score: (_state, { labels }, { name, pods }) => (hashText(`${labels.team}${name}`) % 50) + pods.size * 3,
  normalizeScore: (_state, _pod, scores) => {
    const highest = Math.max(...scores);
    if (highest > 0) for (let i = 0; i < scores.length; i++) scores[i]! *= 100 / highest;
  },
};

/** PreScore returns Skip if the number of feasible nodes is even. */
export const skipping: WorldPlugin = {
  name: 'Skipping',
  weight: 2,
  sign: ({ labels }) => labels.team ?? '',
  filter: (_state, { labels }, { name, pods }) =>
    hashText(`${labels.team}${name}${pods.size}`) % 9 === 0 ? never : undefined,
  preScore: (_state, _pod, feasible) => (feasible().length % 2 === 0 ? skip : undefined),
  score: (_state, { labels }, { name, pods }) => (hashText(`${labels.team}${name}`) % 17) / 11 + pods.size * 0.1,
};

/** PreFilter restricts some pods to some nodes. */
export const pinning: WorldPlugin = {
  name: 'Pinning',
  sign: ({ labels }) => labels.pin ?? '',
  preFilter: (_state, { labels }) =>
    labels.pin === undefined ? undefined : { nodeNames: new Set(labels.pin.split('.')) },
};

/** Reserve rejects some nodes for reasons of its own. */
export const accounting: WorldPlugin = {
  name: 'Accounting',
  reserve: (_state, pod, { name }) => (chance('reserve', pod, name) < 12 ? no : undefined),
};

/** Reads one node alone, but declares that it reads others. */
export const far: WorldPlugin = {
  name: 'Far',
  weight: 1,
  readsOtherNodes: true,
  sign: () => '',
  preFilter: () => undefined,
  filter: (_state, _pod, node) => (node.pods.size > 4 ? no : undefined),
};

export interface BulkOptions {
  /** Filter and Score fail on nodes with this many pods. */
  readonly throwsAt: number;
  readonly filterThrows: boolean;
  readonly scoreThrows: boolean;
  readonly normalizes: boolean;
  /** Factor for the scores, which are not whole numbers. */
  readonly scale: number;
}

/** Filters and scores nodes in bulk. */
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
        let [lowest, highest] = [Infinity, -Infinity];
        for (const each of scores) [lowest, highest] = [Math.min(lowest, each), Math.max(highest, each)];
        for (let i = 0; i < scores.length; i++)
          scores[i] = highest === lowest ? 33.3 : (100 * (scores[i]! - lowest)) / (highest - lowest);
      },
    }),
  };
}

/** node name -> pods on the node, as seen by a plugin that reads all nodes */
type Occupancy = Map<string, Pod[]>;

/** A rule that keeps pods off nodes because of where other pods are. */
export interface NeighborRule {
  readonly kind: 'apart' | 'nearLeader' | 'spread';
  readonly signs: boolean;
  /**
   * How the plugin learns where pods are: it reads the nodes in each Filter, or in each PreFilter, or is notified of placements.
   */
  readonly learns: 'inFilter' | 'inPreFilter' | 'notified';
  readonly skips: boolean;
  readonly scores: boolean;
  /** The plugin says which pods its Filter depends on. */
  readonly selects: boolean;
}

/** Returns whether the rule applies to the pod: it has the `app` label. */
export const isUnderRule = ({ labels }: Pod): boolean => labels.app !== undefined;

export function occupancyOf(nodes: readonly NodeInfo[]): Occupancy {
  return new Map(nodes.map(({ name, pods }) => [name, [...pods.values()]]));
}

export function isBlocked(
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

/** A plugin that reads other nodes and enforces the rule. */
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
      if (rule.learns !== 'inFilter') state.write(occupancyKey, occupancyOf(nodes()));
      return undefined;
    },
    ...(rule.learns === 'notified' && notified),
    filter: (state, pod, node) => {
      if (!isUnderRule(pod)) return undefined;
      const occupancy = rule.learns === 'inFilter' ? occupancyOf(nodes()) : state.read<Occupancy>(occupancyKey)!;
      return isBlocked(rule, pod, node, nodes(), occupancy) ? no : undefined;
    },
    ...(rule.selects && {
      dependsOnPod: (_state: CycleState, pod: Pod, other: Pod) =>
        isUnderRule(pod) && other.labels.app === (rule.kind === 'nearLeader' ? 'leader' : pod.labels.app),
    }),
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
 * A misbehaving plugin: sometimes an extension point rejects. Unless `isWellBehaved`, it may also return nonsense, throw, or return a
 * rejected promise. Logs each Reserve and Unreserve, whatever they return.
 */
export function misbehaving(name: string, random: Random, isWellBehaved: boolean, log: string[]): WorldPlugin {
  const probability = isWellBehaved ? 0.1 : random() * 0.15;
  const has = (): boolean => random() < 0.5;
  const pick = (from: readonly unknown[]): unknown => from[Math.floor(random() * from.length)];
  function sometimes<T extends unknown[]>(
    probability: number,
    normally: (...args: T) => unknown,
    allowed: readonly unknown[] = [],
  ) {
    return (...args: T): never => {
      if (random() >= probability) return normally(...args) as never;
      if (isWellBehaved) return (allowed.length === 0 ? normally(...args) : pick(allowed)) as never;
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
    ...(has() && { sign: sometimes(probability / 10, () => '') }),
    ...(has() && { preFilter: sometimes(isWellBehaved ? 0.35 : probability / 3, nothing, rejections) }),
    ...(has() && {
      preFilterAddPod: sometimes(probability, nothing),
      preFilterRemovePod: sometimes(probability, nothing),
    }),
    ...(has() && { filter: sometimes(isWellBehaved ? probability : probability / 3, nothing, [no]) }),
    ...(has() && { preScore: sometimes(probability, nothing) }),
    ...(has() && { score: sometimes(probability / 5, () => 1), normalizeScore: sometimes(probability, nothing) }),
    reserve: (state, pod, node) => {
      reserve(state, pod, node);
      return sometimes(probability, nothing, [no])();
    },
    unreserve: (state, pod, nodeName) => {
      unreserve(state, pod, nodeName);
      return sometimes(probability, nothing)();
    },
  };
}
