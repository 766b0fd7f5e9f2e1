import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLabelSelector } from '../../api/label-selector.ts';
import type { Pod, PodAffinityRules, PodAffinityTerm } from '../../api/pod.ts';
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
import { createInterPodAffinity } from './inter-pod-affinity.ts';

interface Arguments {
  readonly hardPodAffinityWeight: number;
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

type Terms = readonly PodAffinityTerm[];
const required = (pod: Pod, side: keyof PodAffinityRules): Terms =>
  pod.template.podAffinity?.[side]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
const preferred = (pod: Pod): readonly { readonly weight: number; readonly term: PodAffinityTerm }[] =>
  (['podAffinity', 'podAntiAffinity'] as const).flatMap((side) =>
    (pod.template.podAffinity?.[side]?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ weight, podAffinityTerm: term }) => ({ weight: side === 'podAffinity' ? weight : -weight, term }),
    ),
  );

/** A reference implementation from the documentation, which checks every pod for every node. */
class Reference {
  readonly #cluster: Cluster;
  readonly #args: Arguments;

  constructor(cluster: Cluster, args: Arguments) {
    this.#cluster = cluster;
    this.#args = args;
  }

  resultsOf(pod: Pod): PluginResults {
    const { nodes } = this.#cluster;
    const reasons = nodes.map((node) => this.#reason(pod, node));
    const feasible = nodes.filter((_, i) => reasons[i] === undefined);
    const raw = feasible.map((node) => this.#score(pod, node));
    const [lowest, highest] = [Math.min(...raw), Math.max(...raw)];
    const isIgnored = this.#args.ignorePreferredTermsOfExistingPods && preferred(pod).length === 0;
    return Object.fromEntries(
      nodes.map((node, i) => {
        const score = raw[feasible.indexOf(node)];
        const normal =
          score === undefined
            ? undefined
            : isIgnored || highest === lowest
              ? 0
              : Math.trunc(100 * ((score - lowest) / (highest - lowest)));
        return [node.name, [reasons[i], normal]];
      }),
    );
  }

  /** Pods with their nodes, without pods on unknown nodes. */
  #pods(): readonly { readonly node: NodeView; readonly pod: Pod }[] {
    return this.#cluster.nodes.flatMap((node) => [...node.pods.values()].map((pod) => ({ node, pod })));
  }

  #isAbout(term: PodAffinityTerm, owner: Pod, other: Pod, isOwnerPlaced: boolean): boolean {
    const { namespaces, namespaceSelector, labelSelector } = term;
    const isBare = (namespaces ?? []).length === 0 && (namespaceSelector ?? undefined) === undefined;
    const labels = this.#cluster.listed.get('Namespace', '', other.namespace)?.labels;
    const isEverywhere = JSON.stringify(namespaceSelector) === '{}';
    const isSelected =
      namespaceSelector !== undefined &&
      (isEverywhere ||
        ((labels !== undefined || isOwnerPlaced) && compileLabelSelector(namespaceSelector)(labels ?? {})));
    const isThere = isBare ? owner.namespace === other.namespace : namespaces?.includes(other.namespace);
    return (isThere === true || isSelected) && compileLabelSelector(labelSelector)(other.labels);
  }

  #together(a: NodeView, b: NodeView, key: string): boolean {
    return a.node.labels[key] !== undefined && a.node.labels[key] === b.node.labels[key];
  }

  #reason(pod: Pod, node: NodeView): string | undefined {
    const affinity = required(pod, 'podAffinity');
    if (affinity.length > 0) {
      const no = "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
      if (affinity.some(({ topologyKey }) => node.node.labels[topologyKey] === undefined)) return no;
      const wanted = this.#pods().filter((other) =>
        affinity.every((term) => this.#isAbout(term, pod, other.pod, false)),
      );
      const isBeside = affinity.every(({ topologyKey }) =>
        wanted.some((other) => this.#together(other.node, node, topologyKey)),
      );
      const isAnywhere = wanted.some((other) =>
        affinity.some(({ topologyKey }) => other.node.node.labels[topologyKey] !== undefined),
      );
      const isFirst = !isAnywhere && affinity.every((term) => this.#isAbout(term, pod, pod, false));
      if (!isBeside && !isFirst) return no;
    }
    const isUnwanted = required(pod, 'podAntiAffinity').some((term) =>
      this.#pods().some(
        (other) => this.#isAbout(term, pod, other.pod, false) && this.#together(other.node, node, term.topologyKey),
      ),
    );
    if (isUnwanted) return "Unschedulable: node(s) didn't match pod anti-affinity rules";
    const isBarred = this.#pods().some((other) =>
      required(other.pod, 'podAntiAffinity').some(
        (term) => this.#isAbout(term, other.pod, pod, true) && this.#together(other.node, node, term.topologyKey),
      ),
    );
    return isBarred ? "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules" : undefined;
  }

  #score(pod: Pod, node: NodeView): number {
    let sum = 0;
    for (const other of this.#pods()) {
      const add = (key: string, weight: number): void => {
        if (this.#together(other.node, node, key)) sum += weight;
      };
      for (const { weight, term } of preferred(pod)) {
        if (this.#isAbout(term, pod, other.pod, false)) add(term.topologyKey, weight);
      }
      for (const { weight, term } of preferred(other.pod)) {
        if (this.#isAbout(term, other.pod, pod, true)) add(term.topologyKey, weight);
      }
      for (const term of required(other.pod, 'podAffinity')) {
        if (this.#isAbout(term, other.pod, pod, true)) add(term.topologyKey, this.#args.hardPodAffinityWeight);
      }
    }
    return sum;
  }
}

function optionsIn(world: TopologyWorld): PodOptions {
  const term = (): PodAffinityTerm => {
    const labelSelector = world.selector();
    return {
      topologyKey: world.pick(topologyKeys),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(world.chance(0.2) && { namespaces: [world.namespace()] }),
      ...(world.chance(0.2) && { namespaceSelector: world.namespaceSelector() }),
    };
  };
  const terms = (most: number): PodAffinityTerm[] => Array.from({ length: world.upTo(most) }, term);
  const side = (): PodAffinityRules['podAffinity'] => ({
    ...(world.chance(0.6) && { requiredDuringSchedulingIgnoredDuringExecution: terms(2) }),
    ...(world.chance(0.4) && {
      preferredDuringSchedulingIgnoredDuringExecution: terms(2).map((podAffinityTerm) => ({
        weight: 1 + world.upTo(99),
        podAffinityTerm,
      })),
    }),
  });
  const affinity: PodAffinityRules = {
    ...(world.chance(0.3) && { podAffinity: side()! }),
    ...(world.chance(0.4) && { podAntiAffinity: side()! }),
  };
  return { namespace: world.namespace(), labels: world.labels(), spec: { affinity } };
}

describe('InterPodAffinity', () => {
  it('agrees with the reference implementation, however the cluster changes', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(0, 1, 7, 100), fc.boolean(), (seed, weight, isIgnoring) => {
        const args = { hardPodAffinityWeight: weight, ignorePreferredTermsOfExistingPods: isIgnoring };
        const world = new TopologyWorld(seed, createInterPodAffinity, args);
        const reference = new Reference(world.cluster, args);
        const options = (): PodOptions => optionsIn(world);
        world.fill(options);
        const pods = Array.from({ length: 4 }, () => world.build.projectedPod(options()));
        for (const pod of pods) if (world.chance(0.7)) world.cluster.setPod(pod);
        for (let round = 0; round < 6; round++) {
          for (const pod of pods) expect(resultsOf(world, pod)).toEqual(reference.resultsOf(pod));
          for (let changes = world.upTo(3); changes >= 0; changes--) world.change(options);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('returns the same after AddPod and RemovePod as after a new PreFilter', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const world = new TopologyWorld(seed, createInterPodAffinity, undefined);
        const args = { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false };
        const reference = new Reference(world.cluster, args);
        const options = (): PodOptions => optionsIn(world);
        world.fill(options);
        const pods = Array.from({ length: 4 }, () => world.build.projectedPod(options()));
        for (const pod of pods) world.cluster.setPod(pod);
        expectAddAndRemoveToEqualPreFilter(world, reference, pods);
      }),
      { numRuns: 200 },
    );
  });

  it('returns the same for pods with the same signature', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const world = new TopologyWorld(seed, createInterPodAffinity, undefined);
        const options = (): PodOptions => optionsIn(world);
        world.fill(options);
        const pods = Array.from({ length: 12 }, () => world.build.projectedPod(options()));
        for (const pod of pods) world.cluster.setPod(pod);
        const args = { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false };
        const reference = new Reference(world.cluster, args);
        expectSameResultsPerSignature(world, reference, pods);
      }),
      { numRuns: 200 },
    );
  });

  it('accepts no new node after an event that its hints skip', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const world = new TopologyWorld(seed, createInterPodAffinity, undefined);
        world.fill(() => optionsIn(world));
        const pods = Array.from({ length: 6 }, () => world.build.projectedPod(optionsIn(world)));
        expectHintsToMissNothing(world, pods, () => optionsIn(world));
      }),
      { numRuns: 200, examples: [[2002707500], [192832071]] },
    );
  });
});
