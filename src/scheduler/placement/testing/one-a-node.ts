import type { Pod } from '../../../api/pod.ts';
import type { NodeView } from '../../../cluster/node-info.ts';
import type { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import type { CoreHarness } from '../../../testkit/core-harness.ts';
import { harnessWith } from './planning.ts';

/** Counts what it is asked; rejects a node that holds a pod of the same app already. */
interface Asked {
  preFilter: number;
  addPod: number;
  filter: number;
  preScore: number;
  score: number;
}

class OneANode implements Plugin {
  readonly name = 'OneANode';
  readonly readsOtherNodes = true;
  readonly #asked: Asked;
  readonly #harness: () => CoreHarness;
  readonly #skips: (pod: Pod) => boolean;
  readonly score?: NonNullable<Plugin['score']>;

  constructor(options: {
    readonly asked: Asked;
    readonly harness: () => CoreHarness;
    readonly skips?: (pod: Pod) => boolean;
    readonly scores?: boolean;
  }) {
    this.#asked = options.asked;
    this.#harness = options.harness;
    this.#skips = options.skips ?? ((): boolean => false);
    if (options.scores === true) this.score = () => ++this.#asked.score % 2;
  }

  sign({ labels }: Pod): string {
    return labels.app ?? '';
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    this.#asked.preFilter++;
    if (this.#skips(pod)) return skip;
    const holding = this.#harness().cluster.nodes.filter((node) =>
      [...node.pods.values()].some(({ labels }) => labels.app === pod.labels.app),
    );
    state.write('OneANode/taken', new Set(holding.map(({ name }) => name)));
    return undefined;
  }

  preFilterAddPod(state: CycleState, pod: Pod, added: Pod, node: NodeView): undefined {
    this.#asked.addPod++;
    if (added.labels.app === pod.labels.app) state.read<Set<string>>('OneANode/taken')!.add(node.name);
  }

  preFilterRemovePod(state: CycleState, pod: Pod, removed: Pod, node: NodeView): undefined {
    if (removed.labels.app === pod.labels.app) state.read<Set<string>>('OneANode/taken')!.delete(node.name);
  }

  filter(state: CycleState, _pod: Pod, node: NodeView): Status | undefined {
    this.#asked.filter++;
    return state.read<Set<string>>('OneANode/taken')!.has(node.name)
      ? new Status('Unschedulable', 'one a node')
      : undefined;
  }

  preScore(_state: CycleState, pod: Pod): Status | undefined {
    this.#asked.preScore++;
    return this.#skips(pod) ? skip : undefined;
  }
}

export function openOneANode(options: { readonly skips?: (pod: Pod) => boolean; readonly scores?: boolean } = {}): {
  harness: CoreHarness;
  /** How often it was asked. */
  asked: Asked;
  /** How often a plugin that reads one node at a time looked at one. */
  looks: () => number;
} {
  let looked = 0;
  const local: Plugin = { name: 'Local', sign: () => '', filter: () => void looked++ };
  const asked = { preFilter: 0, addPod: 0, filter: 0, preScore: 0, score: 0 };
  const plugin = new OneANode({ asked, harness: () => harness, ...options });
  const harness: CoreHarness = harnessWith(local, plugin);
  for (let i = 0; i < 10; i++) harness.node({ name: `n${i}`, cpu: 8 });
  return { harness, asked, looks: () => looked };
}
