import type { Selection } from './selection.ts';

/** When the pods are created: while the scheduler runs, or all of them before it starts. */
export type Loading = 'arriving' | 'backlog';

/** Placement of members relative to each other: no two on a node, or spread over three zones. */
export type Placing = 'apart' | 'spread';

/** Pods of low priority that fill the nodes before the run, evenly. They terminate as soon as they are deleted. */
export interface Victims {
  /** Number of them on each node. */
  readonly perNode: number;
  readonly cpu: string;
  /** Gangs have consecutive pods, and the pods of a gang are on different, consecutive nodes. 1: single pods without a group. */
  readonly gangSize: number;
  /** Number of them that must leave a node for one pod of the workload, of which each needs its own node. */
  readonly neededPerPod: number;
}

/** Gangs to schedule. A gang of size 1 is a single pod without a group. */
export interface Workload {
  /** Unique id, which `--only` matches. */
  readonly id: string;
  readonly title: string;
  readonly nodes: number;
  readonly nodeCpu: number;
  readonly gangs: number;
  readonly gangSize: number;
  /** `sequential`: one gang after the other. `interleaved`: the first pod of each gang, then the second of each, and so on. */
  readonly order: 'sequential' | 'interleaved';
  readonly loading: Loading;
  /** Number of gangs that fit. The others must wait. */
  readonly fitting: number;
  /** Absent: no constraint. */
  readonly placing?: Placing;
  /** CPU request of a pod. Absent: one CPU. */
  readonly podCpu?: string;
  /** Absent: the nodes are empty. */
  readonly victims?: Victims;
}

export type WorkloadSelection = Pick<Selection, 'quick' | 'long' | 'preemption' | 'native' | 'nodes'>;

/** Far more than all pods need, so that the benchmark measures the scheduler and not bin packing. */
const nodeCpu = 32;
/** Pods per workload of a full run, rounded down to complete gangs. Independent of the number of nodes, so that results are comparable. */
const pods = 2000;
/** Five times as many pods, so that the first thousand, while V8 compiles the code, have less weight. */
const longPods = 10_000;

/** Returns the workloads of the selection. The contention workload always has eight nodes. */
export function workloadsOf({ quick, long, preemption, native, nodes }: WorkloadSelection): readonly Workload[] {
  if (quick) {
    return [
      gangsOn(1000, 1, 1000, 'arriving'),
      gangsOn(1000, 4, 250, 'arriving'),
      gangsOn(1000, 100, 10, 'arriving'),
      contention('arriving'),
    ];
  }
  if (long || native) {
    return nodes.flatMap((count) =>
      [3, 4, 100].map((size) => gangsOn(count, size, Math.floor(longPods / size), 'arriving')),
    );
  }
  if (preemption) return preemptionWorkloads;
  const loadings = ['arriving', 'backlog'] as const;
  return [
    ...nodes.flatMap((count) =>
      loadings.flatMap((loading) => [
        ...[1, 3, 4, 100, 1000].map((size) => gangsOn(count, size, Math.floor(pods / size), loading)),
        ...(loading === 'arriving' && count < 5000 ? [gangsOn(count, 4, pods / 4, loading, 'interleaved')] : []),
      ]),
    ),
    ...nodes.flatMap((count) => [placedOn(count, 'apart'), placedOn(count, 'spread')]),
    ...loadings.map(contention),
  ];
}

function gangsOn(
  nodes: number,
  gangSize: number,
  gangs: number,
  loading: Loading,
  order: Workload['order'] = 'sequential',
): Workload {
  const what = gangSize === 1 ? 'lone' : `gang${gangSize}`;
  const title =
    gangSize === 1
      ? `${gangs.toLocaleString('en')} lone pods`
      : `${gangs.toLocaleString('en')} × ${gangSize.toLocaleString('en')}`;
  return {
    id: [what, ...(order === 'interleaved' ? [order] : []), `${nodes}nodes`, loading].join('-'),
    title: order === 'interleaved' ? `${title}, interleaved` : title,
    nodes,
    nodeCpu,
    gangs,
    gangSize,
    order,
    loading,
    fitting: gangs,
  };
}

/** Returns gangs of 100 with anti-affinity by hostname, or with topology spread over zones with maxSkew 1. */
function placedOn(nodes: number, placing: Placing): Workload {
  const gangs = gangsOn(nodes, 100, pods / 100, 'arriving');
  const [what, title] = placing === 'apart' ? ['apart', 'apart by hostname'] : ['spread', 'spread over zones'];
  return { ...gangs, id: `gang100-${what}-${nodes}nodes-arriving`, title: `${gangs.title}, ${title}`, placing };
}

/** Returns a workload of 240 pods with one CPU each on 32 CPUs. Five gangs of six fit, and two CPUs stay free. */
function contention(loading: Loading): Workload {
  return {
    id: `contention-8nodes-${loading}`,
    title: '40 × 6 where 5 fit, interleaved',
    nodes: 8,
    nodeCpu: 4,
    gangs: 40,
    gangSize: 6,
    order: 'interleaved',
    loading,
    fitting: 5,
  };
}

/**
 * Workloads of kube-scheduler's own benchmark, `test/integration/scheduler_perf` of Kubernetes 1.37, in `default_preemption` and
 * `workload_preemption`, and one with 5,000 nodes. Each node has 4 CPUs.
 */
const preemptionWorkloads: readonly Workload[] = [
  // PreemptionBasic, with the sizes of PreemptionAsync, and a request that leaves one of four victims on the node.
  preempting('lone500', 500, { gangs: 500, gangSize: 1, podCpu: '3' }, { perNode: 4, cpu: '900m', neededPerPod: 3 }),
  // PreemptionPodGroupDisruptionMode, 1000Nodes_1000Candidates_NoPodGroup.
  preempting('lone100', 1000, { gangs: 100, gangSize: 1 }, { perNode: 10, cpu: '300m' }),
  // The same, 1000Nodes_1000Candidates_DisruptionAll.
  preempting('lone100-gang10', 1000, { gangs: 100, gangSize: 1 }, { perNode: 10, cpu: '300m', gangSize: 10 }),
  // GangPreemptionBasic.
  preempting('gang100', 100, { gangs: 1, gangSize: 100 }, { perNode: 10, cpu: '40m' }),
  preempting('gang10', 100, { gangs: 10, gangSize: 10 }, { perNode: 10, cpu: '40m' }),
  // GangPreemptionPodGroups.
  preempting(
    'gang100-gang100',
    100,
    { gangs: 1, gangSize: 100, podCpu: '3500m' },
    { perNode: 5, cpu: '600m', gangSize: 100 },
  ),
  preempting(
    'gang10-gang10',
    100,
    { gangs: 10, gangSize: 10, podCpu: '3500m' },
    { perNode: 5, cpu: '600m', gangSize: 10 },
  ),
  // Not upstream's.
  preempting('gang100', 5000, { gangs: 5, gangSize: 100, podCpu: '3' }, { perNode: 4, cpu: '900m', neededPerPod: 3 }),
];

/** `neededPerPod` is all victims on a node by default, and `podCpu` almost a node. */
function preempting(
  what: string,
  nodes: number,
  { gangs, gangSize, podCpu = '3970m' }: Pick<Workload, 'gangs' | 'gangSize' | 'podCpu'>,
  victims: Pick<Victims, 'perNode' | 'cpu'> & Partial<Victims>,
): Workload {
  const { perNode, cpu, gangSize: victimGangSize = 1, neededPerPod = perNode } = victims;
  const count = (amount: number): string => amount.toLocaleString('en');
  const pods = gangSize === 1 ? `${count(gangs)} lone pods` : `${count(gangs)} × ${count(gangSize)}`;
  const total = nodes * perNode;
  const low =
    victimGangSize === 1 ? `${count(total)} lone pods` : `${count(total / victimGangSize)} × ${count(victimGangSize)}`;
  return {
    id: `preempt-${what}-${nodes}nodes`,
    title: `${pods} preempt from ${low}`,
    nodes,
    nodeCpu: 4,
    gangs,
    gangSize,
    order: 'sequential',
    loading: 'arriving',
    fitting: gangs,
    podCpu,
    victims: { perNode, cpu, gangSize: victimGangSize, neededPerPod },
  };
}

/** Returns the number of pods with low priority. */
export function victimCount({ nodes, victims }: Pick<Workload, 'nodes' | 'victims'>): number {
  return victims === undefined ? 0 : nodes * victims.perNode;
}

/** Returns the smallest number of victims whose capacity is enough for this number of pods, if gangs of victims are evicted as a whole. */
export function minimumVictims({ victims }: Workload, pods: number): number {
  if (victims === undefined) return 0;
  const { gangSize, neededPerPod } = victims;
  return Math.ceil(pods / gangSize) * gangSize * neededPerPod;
}

/** Returns whether the pods, or the pods of low priority, are in groups. */
export function usesGroups({ gangSize, victims }: Workload): boolean {
  return gangSize > 1 || (victims?.gangSize ?? 1) > 1;
}

export function podCount({ gangs, gangSize }: Workload): number {
  return gangs * gangSize;
}

/** Returns the number of pods in the gangs that fit. */
export function fittingPods({ fitting, gangSize }: Workload): number {
  return fitting * gangSize;
}

/** Returns the gang of each pod, in the order of creation. */
export function gangOfEachPod(workload: Workload): readonly number[] {
  const { gangs, gangSize, order } = workload;
  return Array.from({ length: podCount(workload) }, (_, index) =>
    order === 'sequential' ? Math.floor(index / gangSize) : index % gangs,
  );
}
