import type { Selection } from './selection.ts';

/** When the pods are made: while the scheduler runs, or all of them before it starts. */
export type Loading = 'arriving' | 'backlog';

/** Where members want to be with respect to each other: no two on a node, or evenly over three zones. */
export type Placing = 'apart' | 'spread';

/** What is to be scheduled: so many gangs of so many pods each; a gang of 1 is a lone pod without a group. */
export interface Workload {
  /** Unique; what `--only` matches, and the first column of the tables. */
  readonly id: string;
  readonly title: string;
  readonly nodes: number;
  readonly nodeCpu: number;
  readonly gangs: number;
  readonly gangSize: number;
  /** `sequential`: one gang after the other. `interleaved`: the first pod of every gang, then the second of each, … */
  readonly order: 'sequential' | 'interleaved';
  readonly loading: Loading;
  /** Gangs there is room for; the rest has to wait. */
  readonly fitting: number;
  /** Absent: members do not mind. */
  readonly placing?: Placing;
}

export type WorkloadSelection = Pick<Selection, 'quick' | 'long' | 'nodes'>;

/** Room for every pod, by far: what is measured is the scheduler and not the packing. */
const nodeCpu = 32;
/** Of a workload of a full run, or as many as make whole gangs; on any number of nodes, so that those can be compared. */
const pods = 2000;
/** Five times as many: what the first thousand cost, while code is compiled, is a smaller part. */
const longPods = 10_000;

/** The workloads of a full run, or the few of a quick or a long one; contention always has its own eight nodes. */
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

/** Gangs of 100 whose members stay apart by hostname, or are spread over zones with maxSkew 1. */
function placedOn(nodes: number, placing: Placing): Workload {
  const gangs = gangsOn(nodes, 100, pods / 100, 'arriving');
  const [what, title] = placing === 'apart' ? ['apart', 'apart by hostname'] : ['spread', 'spread over zones'];
  return { ...gangs, id: `gang100-${what}-${nodes}nodes-arriving`, title: `${gangs.title}, ${title}`, placing };
}

/** 32 cpus for 240 pods of one: five gangs of six fit, and two cpus stay free. */
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

/** Pods there is room for in whole gangs. */
export function fittingPods({ fitting, gangSize }: Workload): number {
  return fitting * gangSize;
}

/** The gang of each pod in the order in which the pods are made. */
export function gangOfEachPod(workload: Workload): readonly number[] {
  const { gangs, gangSize, order } = workload;
  return Array.from({ length: podCount(workload) }, (_, index) =>
    order === 'sequential' ? Math.floor(index / gangSize) : index % gangs,
  );
}
