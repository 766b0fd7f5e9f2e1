import type { Node } from '../../api/node.ts';
import type { Pod, PodTemplate, Toleration } from '../../api/pod.ts';
import { isTolerated } from '../../api/tolerations.ts';
import type { NodeView } from '../../cluster/node-info.ts';

/** The taint that Kubernetes sets while a node does not take pods -> the reason in messages. */
const reasons: Readonly<Record<string, string>> = {
  'node.kubernetes.io/unschedulable': 'cordoned',
  'node.kubernetes.io/not-ready': 'not ready',
  'node.kubernetes.io/unreachable': 'unreachable',
  'node.kubernetes.io/memory-pressure': 'memory pressure',
  'node.kubernetes.io/disk-pressure': 'disk pressure',
  'node.kubernetes.io/pid-pressure': 'PID pressure',
  'node.kubernetes.io/network-unavailable': 'network unavailable',
};

const cordonTaint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' } as const;
const acceptAll: readonly Toleration[] = Object.keys(reasons).map((key) => ({ key, operator: 'Exists' }));

/** Nodes that reject some pods only because they are cordoned, not ready, unreachable, under pressure or without a network. */
export interface UnavailableNodes {
  readonly names: ReadonlySet<string>;
  /** Number of nodes in the cluster. */
  readonly nodeCount: number;
  readonly reasons: readonly string[];
}

export function unavailableNodes(nodes: readonly NodeView[], pods: readonly Pod[]): UnavailableNodes {
  const tolerations = [
    ...new Map(pods.map(({ template }) => [JSON.stringify(template.tolerations), template.tolerations])).values(),
  ];
  const names = new Set<string>();
  const found = new Set<string>();
  for (const { name, node } of nodes) {
    for (const reason of reasonsOf(node, tolerations)) {
      names.add(name);
      found.add(reason);
    }
  }
  return { names, nodeCount: nodes.length, reasons: Object.values(reasons).filter((reason) => found.has(reason)) };
}

export function describeUnavailable({ names: { size }, nodeCount, reasons }: UnavailableNodes): string {
  return `${size} of ${nodeCount} nodes ${size === 1 ? 'is' : 'are'} unavailable (${reasons.join(', ')}).`;
}

/** Returns why the node rejects pods with some of the tolerations for now. */
function reasonsOf({ taints, unschedulable }: Node, tolerations: readonly (readonly Toleration[])[]): string[] {
  if (taints.length === 0 && !unschedulable) return [];
  const all = unschedulable ? [...taints, cordonTaint] : taints;
  return all
    .filter(({ key, effect }) => Object.hasOwn(reasons, key) && effect !== 'PreferNoSchedule')
    .filter((taint) => tolerations.some((each) => !isTolerated(taint, each)))
    .map(({ key }) => reasons[key]!);
}

/** Makes copies of pods to which all nodes are available: they tolerate the taints of nodes that do not take pods for now. */
export class TolerantPods {
  readonly #accepted: readonly Toleration[];
  /** template -> the same with more tolerations, so that identical pods stay identical */
  readonly #templates = new WeakMap<PodTemplate, PodTemplate>();

  /** `why`: `all` reasons why nodes do not take pods, or only that they are cordoned. */
  constructor(why: 'all' | 'cordoned' = 'all') {
    this.#accepted = why === 'all' ? acceptAll : [{ key: cordonTaint.key, operator: 'Exists' }];
  }

  of(pod: Pod): Pod {
    const { template } = pod;
    let tolerant = this.#templates.get(template);
    if (tolerant === undefined) {
      tolerant = { ...template, tolerations: [...template.tolerations, ...this.#accepted] };
      this.#templates.set(template, tolerant);
    }
    return { ...pod, template: tolerant };
  }
}
