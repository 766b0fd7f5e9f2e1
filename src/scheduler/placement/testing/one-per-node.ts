import type { Pod } from '../../../api/pod.ts';
import type { NodeView } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import type { CoreHarness } from '../../../testkit/core-harness.ts';
import { harnessWith } from './planning.ts';

/** Number of calls by extension point. */
interface CallCounts {
  preFilter: number;
  addPod: number;
  filter: number;
  preScore: number;
  score: number;
}

class OnePerNode implements Plugin {
  readonly name = 'OnePerNode';
  readonly readsOtherNodes = true;
  readonly #calls: CallCounts;
  readonly #harness: () => CoreHarness;
  readonly #skips: (pod: Pod) => boolean;
  readonly score?: NonNullable<Plugin['score']>;

  constructor(options: {
    readonly calls: CallCounts;
    readonly harness: () => CoreHarness;
    readonly skips?: (pod: Pod) => boolean;
    readonly scores?: boolean;
  }) {
    this.#calls = options.calls;
    this.#harness = options.harness;
    this.#skips = options.skips ?? ((): boolean => false);
    if (options.scores === true) this.score = () => ++this.#calls.score % 2;
  }

  sign({ labels }: Pod): string {
    return labels.app ?? '';
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    this.#calls.preFilter++;
    if (this.#skips(pod)) return skip;
    const holding = this.#harness().cluster.nodes.filter((node) =>
      [...node.pods.values()].some(({ labels }) => labels.app === pod.labels.app),
    );
    state.write('OnePerNode/taken', new Set(holding.map(({ name }) => name)));
    return undefined;
  }

  preFilterAddPod(state: CycleState, pod: Pod, added: Pod, node: NodeView): undefined {
    this.#calls.addPod++;
    if (added.labels.app === pod.labels.app) state.read<Set<string>>('OnePerNode/taken')!.add(node.name);
  }

  preFilterRemovePod(state: CycleState, pod: Pod, removed: Pod, node: NodeView): undefined {
    if (removed.labels.app === pod.labels.app) state.read<Set<string>>('OnePerNode/taken')!.delete(node.name);
  }

  filter(state: CycleState, _pod: Pod, node: NodeView): Status | undefined {
    this.#calls.filter++;
    return state.read<Set<string>>('OnePerNode/taken')!.has(node.name)
      ? new Status('Unschedulable', 'one per node')
      : undefined;
  }

  preScore(_state: CycleState, pod: Pod): Status | undefined {
    this.#calls.preScore++;
    return this.#skips(pod) ? skip : undefined;
  }
}

export function openOnePerNode(options: { readonly skips?: (pod: Pod) => boolean; readonly scores?: boolean } = {}): {
  harness: CoreHarness;
  /** Calls of the plugin so far. */
  calls: CallCounts;
  /** Returns how many nodes a node-local plugin has filtered. */
  filterCalls: () => number;
} {
  let filterCalls = 0;
  const local: Plugin = { name: 'Local', sign: () => '', filter: () => void filterCalls++ };
  const calls = { preFilter: 0, addPod: 0, filter: 0, preScore: 0, score: 0 };
  const plugin = new OnePerNode({ calls, harness: () => harness, ...options });
  const harness: CoreHarness = harnessWith(local, plugin);
  for (let i = 0; i < 10; i++) harness.node({ name: `n${i}`, cpu: 8 });
  return { harness, calls, filterCalls: () => filterCalls };
}
