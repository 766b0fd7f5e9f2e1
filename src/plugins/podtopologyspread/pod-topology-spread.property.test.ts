import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLabelSelector } from '../../api/label-selector.ts';
import type { LabelSelector, Labels } from '../../api/label-selector.ts';
import { projectListed } from '../../api/listed-object.ts';
import type { Pod, TopologySpreadConstraint } from '../../api/pod.ts';
import { isTolerated } from '../../api/tolerations.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import {
  expectAddAndRemoveToEqualPreFilter,
  expectHintsToMissNothing,
  expectSameResultsPerSignature,
} from '../testing/topology-properties.ts';
import { resultsOf, topologyKeys, TopologyWorld } from '../testing/topology-world.ts';
import type { PluginResults } from '../testing/topology-world.ts';
import { createPodTopologySpread } from './pod-topology-spread.ts';

const system: readonly TopologySpreadConstraint[] = [
  { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
];
const reason = "node(s) didn't match pod topology spread constraints";

/** A reference implementation from the documentation, which checks every pod for every node. */
class Reference {
  readonly #cluster: Cluster;
  /** Undefined: the system defaults. */
  readonly #defaults: readonly TopologySpreadConstraint[] | undefined;

  constructor(cluster: Cluster, defaults: readonly TopologySpreadConstraint[] | undefined) {
    this.#cluster = cluster;
    this.#defaults = defaults;
  }

  resultsOf(pod: Pod): PluginResults {
    const { nodes } = this.#cluster;
    const constraints = this.#constraints(pod);
    const hard = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
    const reasons = nodes.map((node) => this.#reason(pod, node, hard));
    const feasible = nodes.filter((_, i) => reasons[i] === undefined);
    const scores = this.#scores(pod, feasible, constraints);
    return Object.fromEntries(
      nodes.map((node, i) => [node.name, [reasons[i], scores[feasible.indexOf(node)]]] as const),
    );
  }

  #constraints(pod: Pod): readonly TopologySpreadConstraint[] {
    const { topologySpread } = pod.template;
    if (topologySpread.length > 0) return topologySpread;
    const labelSelector = this.#defaultSelector(pod);
    return labelSelector === undefined ? [] : (this.#defaults ?? system).map((own) => ({ ...own, labelSelector }));
  }

  #defaultSelector({ namespace, labels, template: { controller } }: Pod): LabelSelector | undefined {
    const { listed } = this.#cluster;
    const services = [...listed.in('Service', namespace)].filter(
      ({ selector }) => selector !== undefined && compileLabelSelector(selector)(labels),
    );
    const own = controller && listed.get(controller.kind, namespace, controller.name)?.selector;
    // Labels selected by Services and a ReplicationController form one set, in which the latter's win. A ReplicaSet or
    // StatefulSet adds its own selector; contradicting selectors match no pod.
    const isSet = controller?.kind === 'ReplicationController';
    const labelSets = [...services.map(({ selector }) => selector!.matchLabels), ...(isSet ? [own?.matchLabels] : [])];
    const matchLabels = Object.assign({}, ...labelSets);
    const besides = isSet ? [] : Object.entries(own?.matchLabels ?? {});
    const matchExpressions = [
      ...besides.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })),
      ...(own?.matchExpressions ?? []),
    ];
    if (Object.keys(matchLabels as Labels).length + matchExpressions.length === 0) return undefined;
    return { matchLabels: matchLabels as Labels, matchExpressions };
  }

  #counts(pod: Pod, node: NodeView, own: TopologySpreadConstraint): boolean {
    const { nodeSelector, nodeAffinity, tolerations } = pod.template;
    if ((own.nodeAffinityPolicy ?? 'Honor') === 'Honor') {
      if (Object.entries(nodeSelector ?? {}).some(([key, value]) => node.node.labels[key] !== value)) return false;
      const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
      if (
        terms?.some(({ matchExpressions = [] }) => compileLabelSelector({ matchExpressions })(node.node.labels)) ===
        false
      )
        return false;
    }
    if (own.nodeTaintsPolicy !== 'Honor') return true;
    return node.node.taints.every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, tolerations));
  }

  #selects(pod: Pod, own: TopologySpreadConstraint): (other: Pod) => boolean {
    const keys = (own.matchLabelKeys ?? []).filter((key) => key in pod.labels);
    const isNone = own.labelSelector === undefined || own.labelSelector === null;
    return (other) =>
      !isNone &&
      compileLabelSelector(own.labelSelector)(other.labels) &&
      keys.every((key) => other.labels[key] === pod.labels[key]);
  }

  #on(pod: Pod, node: NodeView, own: TopologySpreadConstraint): number {
    const isAll = JSON.stringify(own.labelSelector) === '{}';
    if (isAll && !(own.matchLabelKeys ?? []).some((key) => key in pod.labels)) return 0;
    const selects = this.#selects(pod, own);
    const others = [...node.pods.values()].filter((other) => !other.deleting && other.namespace === pod.namespace);
    return others.filter(selects).length;
  }

  /** label value -> number of pods on counting nodes */
  #domains(pod: Pod, own: TopologySpreadConstraint, keys: readonly string[]): Map<string, number> {
    const domains = new Map<string, number>();
    for (const node of this.#cluster.nodes) {
      if (keys.some((key) => node.node.labels[key] === undefined) || !this.#counts(pod, node, own)) continue;
      const value = node.node.labels[own.topologyKey] ?? '';
      domains.set(value, (domains.get(value) ?? 0) + this.#on(pod, node, own));
    }
    return domains;
  }

  #reason(pod: Pod, node: NodeView, hard: readonly TopologySpreadConstraint[]): string | undefined {
    for (const own of hard) {
      const value = node.node.labels[own.topologyKey];
      if (value === undefined) return `UnschedulableAndUnresolvable: ${reason} (missing required label)`;
      const domains = this.#domains(
        pod,
        own,
        hard.map(({ topologyKey }) => topologyKey),
      );
      const lowest = domains.size < (own.minDomains ?? 1) ? 0 : Math.min(...domains.values());
      const self = this.#selects(pod, own)(pod) ? 1 : 0;
      if ((domains.get(value) ?? 0) + self - lowest > own.maxSkew) return `Unschedulable: ${reason}`;
    }
    return undefined;
  }

  #scores(pod: Pod, feasible: readonly NodeView[], constraints: readonly TopologySpreadConstraint[]): number[] {
    const soft = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway');
    if (soft.length === 0) return feasible.map(() => 0);
    const isSystem = pod.template.topologySpread.length === 0 && this.#defaults === undefined;
    const keys = isSystem ? [] : soft.map(({ topologyKey }) => topologyKey);
    const isScored = (node: NodeView): boolean => keys.every((key) => node.node.labels[key] !== undefined);
    const scored = feasible.filter(isScored);
    const raw = feasible.map((node) => {
      if (!isScored(node)) return undefined;
      let sum = 0;
      for (const own of soft) {
        const value = node.node.labels[own.topologyKey];
        if (value === undefined) continue;
        const isByHostname = own.topologyKey === 'kubernetes.io/hostname';
        const size = isByHostname
          ? scored.length
          : new Set(scored.map((other) => other.node.labels[own.topologyKey] ?? '')).size;
        const count = isByHostname ? this.#on(pod, node, own) : (this.#domains(pod, own, keys).get(value) ?? 0);
        sum += count * Math.log(size + 2) + own.maxSkew - 1;
      }
      return Math.round(sum);
    });
    const known = raw.filter((score) => score !== undefined);
    const [lowest, highest] = [Math.min(...known), Math.max(0, ...known)];
    return raw.map((score) => {
      if (score === undefined) return 0;
      return highest === 0 ? 100 : Math.trunc((100 * (highest + lowest - score)) / highest);
    });
  }
}

function constraintIn(world: TopologyWorld): TopologySpreadConstraint {
  const labelSelector = world.selector();
  return {
    maxSkew: 1 + world.upTo(2),
    topologyKey: world.pick(topologyKeys),
    whenUnsatisfiable: world.pick(['DoNotSchedule', 'ScheduleAnyway']),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(world.chance(0.2) && { minDomains: 1 + world.upTo(3) }),
    ...(world.chance(0.3) && { nodeAffinityPolicy: world.pick(['Honor', 'Ignore']) }),
    ...(world.chance(0.3) && { nodeTaintsPolicy: world.pick(['Honor', 'Ignore']) }),
    ...(world.chance(0.2) && { matchLabelKeys: [world.pick(['tier', 'index'])] }),
  };
}

function optionsIn(world: TopologyWorld): PodOptions {
  return {
    namespace: world.namespace(),
    labels: world.labels(),
    ...(world.chance(0.2) && { nodeSelector: { disk: 'ssd' } }),
    ...(world.chance(0.2) && {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['z1', 'z2'] }] }],
        },
      },
    }),
    tolerations: world.chance(0.3) ? [{ key: 't', operator: 'Exists' }] : [],
    spec: {
      topologySpreadConstraints: world.chance(0.7)
        ? Array.from({ length: 1 + world.upTo(2) }, () => constraintIn(world))
        : [],
    },
  };
}

/** Sometimes with a controller. */
function podIn(world: TopologyWorld): Pod {
  const options = optionsIn(world);
  const raw = world.build.pod(options);
  const kind = world.pick(['ReplicaSet', 'StatefulSet', 'ReplicationController', 'Job']);
  const apiVersion = kind === 'ReplicationController' ? 'v1' : kind === 'Job' ? 'batch/v1' : 'apps/v1';
  const ownerReferences = [{ apiVersion, kind, name: world.pick(['x', 'y']), controller: true }];
  return world.build.projector.project(
    world.chance(0.5) ? { ...raw, metadata: { ...raw.metadata, ownerReferences } } : raw,
  );
}

function setSelecting(world: TopologyWorld): void {
  const namespace = world.namespace();
  const name = world.pick(['x', 'y']);
  const map = world.chance(0.8) ? { app: world.pick(['a', 'b']), ...(world.chance(0.2) && { tier: 'x' }) } : {};
  const metadata = { name, namespace };
  const kind = world.pick(['Service', 'ReplicationController', 'ReplicaSet', 'StatefulSet'] as const);
  const isMap = kind === 'Service' || kind === 'ReplicationController';
  const selector = isMap ? map : (world.selector() ?? { matchLabels: map });
  world.cluster.listed.set(projectListed(kind, { metadata, spec: { selector } }));
}

const argumentsIn = fc.constantFrom(
  undefined,
  { defaultingType: 'List' },
  {
    defaultingType: 'List',
    defaultConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
      { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
  },
);
const defaultsOf = (args: unknown): readonly TopologySpreadConstraint[] | undefined => {
  if (args === undefined) return undefined;
  return (args as { defaultConstraints?: readonly TopologySpreadConstraint[] }).defaultConstraints ?? [];
};

describe('PodTopologySpread', () => {
  it('agrees with the reference implementation, however the cluster changes', () => {
    fc.assert(
      fc.property(fc.nat(), argumentsIn, (seed, args) => {
        const world = new TopologyWorld(seed, createPodTopologySpread, args);
        const reference = new Reference(world.cluster, defaultsOf(args));
        world.fill(() => optionsIn(world));
        const pods = Array.from({ length: 4 }, () => podIn(world));
        for (let round = 0; round < 6; round++) {
          for (const pod of pods) expect(resultsOf(world, pod)).toEqual(reference.resultsOf(pod));
          for (let changes = world.upTo(3); changes >= 0; changes--) world.change(() => optionsIn(world));
          if (world.chance(0.5)) setSelecting(world);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('returns the same after AddPod and RemovePod as after a new PreFilter', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const world = new TopologyWorld(seed, createPodTopologySpread, undefined);
        const reference = new Reference(world.cluster, undefined);
        world.fill(() => optionsIn(world));
        const pods = Array.from({ length: 4 }, () => podIn(world));
        expectAddAndRemoveToEqualPreFilter(world, reference, pods);
      }),
      { numRuns: 200 },
    );
  });

  it('returns the same for pods with the same signature', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const world = new TopologyWorld(seed, createPodTopologySpread, undefined);
        world.fill(() => optionsIn(world));
        setSelecting(world);
        const reference = new Reference(world.cluster, undefined);
        expectSameResultsPerSignature(
          world,
          reference,
          Array.from({ length: 12 }, () => podIn(world)),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('accepts no new node after an event that its hints skip', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const world = new TopologyWorld(seed, createPodTopologySpread, undefined);
        world.fill(() => optionsIn(world));
        const pods = Array.from({ length: 6 }, () => podIn(world));
        expectHintsToMissNothing(world, pods, () => optionsIn(world));
      }),
      { numRuns: 200 },
    );
  });
});
