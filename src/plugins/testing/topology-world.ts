import { projectListed } from '../../api/listed-object.ts';
import type { LabelSelector, Labels } from '../../api/label-selector.ts';
import type { Pod } from '../../api/pod.ts';
import { seededRandom } from '../../base/random.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';

export const topologyKeys = ['kubernetes.io/hostname', 'zone', 'rack'] as const;
const apps = ['a', 'b', 'c'];
const namespaces = ['default', 'one', 'two', 'unknown'];

/** A small random cluster that changes, with everything that PodTopologySpread and InterPodAffinity read. */
export class TopologyWorld {
  readonly build = new Builders();
  readonly cluster: Cluster;
  readonly plugin: Plugin;
  readonly #random: () => number;
  /** name -> pod on a node */
  readonly placed = new Map<string, Pod>();
  #serial = 0;

  constructor(seed: number, factory: PluginFactory, args: unknown) {
    this.#random = seededRandom(seed);
    const handle = pluginHandle(this.build);
    this.cluster = handle.cluster;
    this.plugin = factory(args, handle);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  upTo(max: number): number {
    return Math.floor(this.#random() * (max + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.upTo(from.length - 1)]!;
  }

  fill(podOptions: () => PodOptions): void {
    for (const name of ['default', 'one', 'two']) this.setNamespace(name);
    for (let i = 0; i < 2 + this.upTo(5); i++) this.setNode(`n${i}`);
    for (let i = this.upTo(10); i > 0; i--) this.place(podOptions());
  }

  setNamespace(name: string): ClusterEvent {
    const old = this.cluster.listed.get('Namespace', '', name);
    const labels: Labels = { team: this.pick(['red', 'blue']), ...(this.chance(0.5) && { env: 'x' }) };
    const object = projectListed('Namespace', { metadata: { name, labels } });
    this.cluster.listed.set(object);
    return { resource: 'Namespace', action: old === undefined ? 'Add' : 'Update', object, old };
  }

  setNode(name: string): ClusterEvent {
    const old = this.cluster.node(name)?.node;
    const node = this.build.projectedNode({
      name,
      labels: {
        ...(this.chance(0.9) && { 'kubernetes.io/hostname': name }),
        ...(this.chance(0.8) && { zone: this.pick(['z1', 'z2', 'z3']) }),
        ...(this.chance(0.6) && { rack: this.pick(['r1', 'r2']) }),
        ...(this.chance(0.5) && { disk: 'ssd' }),
      },
      taints: this.chance(0.25) ? [this.pick(['t:NoSchedule', 't:PreferNoSchedule', 'u:NoExecute'])] : [],
    });
    this.cluster.setNode(node);
    return { resource: 'Node', action: old === undefined ? 'Add' : 'Update', old, new: node };
  }

  /** Places a pod on a random node, sometimes on an unknown one. */
  place(options: PodOptions): ClusterEvent {
    const nodeName = this.chance(0.05) ? 'nowhere' : this.pick(this.cluster.nodes).name;
    const name = `placed-${this.#serial++}`;
    const pod = this.build.projectedPod({ ...options, name, nodeName, deleting: this.chance(0.1) });
    this.cluster.setPod(pod);
    this.placed.set(name, pod);
    return { resource: 'AssignedPod', action: 'Add', pod };
  }

  /** Applies a random change and returns its event. */
  change(podOptions: () => PodOptions): ClusterEvent {
    const name = this.placed.size === 0 ? undefined : this.pick([...this.placed.keys()]);
    const old = name === undefined ? undefined : this.placed.get(name)!;
    switch (this.upTo(7)) {
      case 0:
        return this.setNode(`n${this.upTo(7)}`);
      case 1:
        return this.setNamespace(this.pick(['default', 'one', 'two']));
      case 2: {
        if (this.cluster.nodes.length === 1) break;
        const { node } = this.pick(this.cluster.nodes);
        this.cluster.removeNode(node.name);
        return { resource: 'Node', action: 'Delete', old: node };
      }
      case 3:
      case 4:
        if (old === undefined) break;
        this.cluster.removePod(old.uid);
        this.placed.delete(old.name);
        return { resource: 'AssignedPod', action: 'Delete', pod: old };
      case 5: {
        if (old === undefined) break;
        const pod = { ...old, labels: this.labels(), deleting: old.deleting || this.chance(0.3) };
        this.cluster.setPod(pod);
        this.placed.set(pod.name, pod);
        return { resource: 'AssignedPod', action: 'Update', pod, old };
      }
    }
    return this.place(podOptions());
  }

  labels(): Record<string, string> {
    return {
      ...(this.chance(0.8) && { app: this.pick(apps) }),
      ...(this.chance(0.3) && { tier: this.pick(['x', 'y']) }),
      ...(this.chance(0.2) && { index: `${this.upTo(20)}` }),
    };
  }

  namespace(): string {
    return this.pick(namespaces);
  }

  selector(): LabelSelector | undefined {
    if (this.chance(0.05)) return undefined;
    if (this.chance(0.05)) return {};
    if (this.chance(0.7)) return { matchLabels: { app: this.pick(apps) } };
    return this.pick<LabelSelector>([
      { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] },
      { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] },
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }], matchLabels: { app: 'a' } },
    ]);
  }

  namespaceSelector(): LabelSelector {
    return this.pick<LabelSelector>([
      {},
      { matchLabels: { team: 'red' } },
      { matchExpressions: [{ key: 'env', operator: 'Exists' }] },
      { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['red'] }] },
    ]);
  }

  /** Returns the pods on a node. */
  on(node: NodeView): readonly Pod[] {
    return [...node.pods.values()];
  }
}

/** Results of a plugin for a pod: node name -> `[reason, normalized score]`. Rejected nodes have no score. */
export type PluginResults = Readonly<Record<string, readonly [string | undefined, number | undefined]>>;

/** Runs the plugin for the pod in the current state. `preFilterState`: state in which PreFilter has already run. */
export function resultsOf({ plugin, cluster }: TopologyWorld, pod: Pod, preFilterState?: CycleState): PluginResults {
  const state = preFilterState ?? new CycleState();
  const preFilter = preFilterState === undefined ? plugin.preFilter!(state, pod) : undefined;
  if (preFilter !== undefined && 'code' in preFilter && preFilter.code === 'Skip') state.skipFilter(plugin.name);
  const reasons = cluster.nodes.map((node) =>
    state.skippedFilters.has(plugin.name) ? undefined : plugin.filter!(state, pod, node),
  );
  const feasible = cluster.nodes.filter((_, i) => reasons[i] === undefined);
  const isScored = plugin.preScore!(state, pod, () => feasible)?.code !== 'Skip';
  const scores = Float64Array.from(feasible, (node) => (isScored ? plugin.score!(state, pod, node) : 0));
  if (isScored) expectSameScores(plugin, state, pod, feasible, scores);
  if (isScored) plugin.normalizeScore!(state, pod, scores);
  return Object.fromEntries(
    cluster.nodes.map((node, i) => {
      const status = reasons[i];
      return [node.name, [status && `${status.code}: ${status.message}`, scores[feasible.indexOf(node)]]];
    }),
  );
}

/** Throws unless `scoreAll` returns the same scores as `score`. */
function expectSameScores(
  plugin: Plugin,
  state: CycleState,
  pod: Pod,
  feasible: readonly NodeView[],
  scores: Float64Array,
): void {
  plugin.preScore!(state, pod, () => feasible);
  const indexes = Int32Array.from(feasible, ({ index }) => index);
  const inBulk = new Float64Array(Math.max(0, ...indexes) + 1);
  plugin.scoreAll!(state, pod, indexes, indexes.length, inBulk);
  const differing = feasible.findIndex(({ index }, i) => inBulk[index] !== scores[i]);
  if (differing < 0) return;
  const { name, index } = feasible[differing]!;
  throw new Error(`${plugin.name} scores ${name} ${scores[differing]} by score, but ${inBulk[index]} by scoreAll`);
}

/** Returns whether the plugin's registrations expect the event to help the pod. */
export function mayHelp({ plugin }: TopologyWorld, pod: Pod, event: ClusterEvent): boolean {
  return plugin.eventsToRegister!().some(
    ({ resource, actions, hint }) =>
      resource === event.resource && actions.includes(event.action) && hint?.(pod, event) !== false,
  );
}

/** Returns the nodes that accept the pod in `now` but not in `before`. */
export function newlyFeasible(before: PluginResults, now: PluginResults): readonly string[] {
  return Object.entries(now)
    .filter(([name, [reason]]) => reason === undefined && before[name]?.[0] !== undefined)
    .map(([name]) => name);
}
