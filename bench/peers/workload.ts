import type { Selection } from './selection.ts';

/** When the pods are created: while the scheduler runs, or all of them before it starts. */
export type Loading = 'arriving' | 'backlog';

/** Placement of members relative to each other: no two on a node, or spread over three zones. */
export type Placing = 'apart' | 'spread';

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
}

export type WorkloadSelection = Pick<Selection, 'quick' | 'long' | 'nodes'>;

/** Far more than all pods need, so that the benchmark measures the scheduler and not bin packing. */
const nodeCpu = 32;
/** Pods per workload of a full run, rounded down to complete gangs. Independent of the number of nodes, so that results are comparable. */
const pods = 2000;
/** Five times as many pods, so that the first thousand, while V8 compiles the code, have less weight. */
const longPods = 10_000;

/** Returns the workloads of a full, quick or long run. The contention workload always has eight nodes. */
export function workloadsOf({ quick, long, nodes }: WorkloadSelection): readonly Workload[] {
  if (quick) {
    return [
      gangsOn(1000, 1, 1000, 'arriving'),
      gangsOn(1000, 4, 250, 'arriving'),
      gangsOn(1000, 100, 10, 'arriving'),
      contention('arriving'),
    ];
  }
  if (long) {
    return nodes.flatMap((count) =>
      [3, 4, 100].map((size) => gangsOn(count, size, Math.floor(longPods / size), 'arriving')),
    );
  }
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
