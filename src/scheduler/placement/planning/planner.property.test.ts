import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { mustRespect } from '../../../cluster/claim.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';

/** node name -> the pods there, as far as a plugin that reads all nodes is concerned */
type Occupancy = Map<string, Pod[]>;

/** What keeps a pod off a node because of who is where. */
type Law = 'apart' | 'nearLeader' | 'spread';

function isKeptOff(law: Law, pod: Pod, node: NodeInfo, nodes: readonly NodeInfo[], occupancy: Occupancy): boolean {
  const alike = (name: string): number =>
    (occupancy.get(name) ?? []).filter(({ labels }) => labels.app === pod.labels.app).length;
  switch (law) {
    case 'apart':
      return alike(node.name) > 0;
    case 'nearLeader':
      if (pod.labels.app === 'leader') return false;
      return !(occupancy.get(node.name) ?? []).some(({ labels }) => labels.app === 'leader');
    case 'spread':
      return alike(node.name) > Math.min(...nodes.map(({ name }) => alike(name)));
  }
}

/** Pods without this label are none of the plugin's business. */
const concerns = (pod: Pod): boolean => pod.labels.app !== undefined;

interface Variant {
  readonly signs: boolean;
  /** How it knows who is where: looks at each Filter, asks anew at each PreFilter, or is told of each placement. */
  readonly knows: 'looks' | 'again' | 'told';
  readonly skips: boolean;
  readonly scores: boolean;
}

const stateKey = 'Law/occupancy';

function occupancyOf(nodes: readonly NodeInfo[]): Occupancy {
  return new Map(nodes.map(({ name, pods }) => [name, [...pods.values()]]));
}

function scoreOf(pod: Pod, node: NodeInfo, nodes: readonly NodeInfo[]): number {
  const alike = nodes.flatMap(({ pods }) => [...pods.values()]).filter(({ labels }) => labels.app === pod.labels.app);
  return (alike.length * 7 + node.index * 13) % 101;
}

function pluginFor(law: Law, variant: Variant, nodes: () => readonly NodeInfo[]): Plugin & { readonly weight: number } {
  const told: Partial<Plugin> = {
    preFilterAddPod: (state, _pod, added, node) => {
      state.read<Occupancy>(stateKey)!.get(node.name)!.push(added);
      return undefined;
    },
    preFilterRemovePod: (state, _pod, removed, node) => {
      const here = state.read<Occupancy>(stateKey)!.get(node.name)!;
      here.splice(
        here.findIndex(({ uid }) => uid === removed.uid),
        1,
      );
      return undefined;
    },
  };
  return {
    name: 'Law',
    weight: 3,
    readsOtherNodes: true,
    ...(variant.signs && { sign: (pod: Pod) => pod.labels.app ?? '' }),
    preFilter: (state, pod) => {
      if (variant.skips && !concerns(pod)) return skip;
      if (variant.knows !== 'looks') state.write(stateKey, occupancyOf(nodes()));
      return undefined;
    },
    ...(variant.knows === 'told' && told),
    filter: (state, pod, node) => {
      if (!concerns(pod)) return undefined;
      const occupancy = variant.knows === 'looks' ? occupancyOf(nodes()) : state.read<Occupancy>(stateKey)!;
      const off = isKeptOff(law, pod, node as NodeInfo, nodes(), occupancy);
      return off ? new Status('Unschedulable', 'kept off') : undefined;
    },
    ...(variant.scores && {
      preScore: (_state: CycleState, pod: Pod) => (concerns(pod) ? undefined : skip),
      score: (_state: CycleState, pod: Pod, node) => scoreOf(pod, node as NodeInfo, nodes()),
    }),
  };
}

const memberKind = fc.record({
  app: fc.constantFrom(undefined, 'leader', 'x', 'y'),
  cpu: fc.constantFrom(1, 2),
  hostPorts: fc.constantFrom<number[]>([], [], [80]),
  pinned: fc.constantFrom(false, false, false, true),
});

const scene = fc.record({
  law: fc.constantFrom<Law>('apart', 'nearLeader', 'spread'),
  nodes: fc.array(fc.record({ cpu: fc.integer({ min: 1, max: 5 }), disk: fc.boolean() }), {
    minLength: 1,
    maxLength: 5,
  }),
  members: fc.array(memberKind, { minLength: 1, maxLength: 7 }),
  others: fc.array(
    fc.record({ app: fc.constantFrom(undefined, 'leader', 'x', 'y'), on: fc.nat(4), isClaim: fc.boolean() }),
    { maxLength: 4 },
  ),
  spare: fc.nat(2),
  variant: fc.record({
    signs: fc.boolean(),
    knows: fc.constantFrom<Variant['knows']>('looks', 'again', 'told'),
    skips: fc.boolean(),
    scores: fc.boolean(),
  }),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

function labelled(app: string | undefined): { readonly labels: Record<string, string> } {
  return { labels: app === undefined ? {} : { app } };
}

class World {
  readonly picture: Picture;
  readonly members: Pod[];
  readonly #law: Law;
  /** A plugin that is asked anew but never told sees no claimants. */
  readonly #seesClaims: boolean;

  constructor({ law, nodes, members, others, variant }: Scene) {
    this.#law = law;
    this.#seesClaims = variant.knows !== 'again';
    const picture: Picture = new Picture({
      plugins: defaultPlugins,
      extra: [pluginFor(law, variant, () => picture.cluster.nodes)],
    });
    this.picture = picture;
    nodes.forEach(({ cpu, disk }, i) => picture.node({ name: `n${i}`, cpu, labels: disk ? { disk: 'ssd' } : {} }));
    others.forEach(({ app, on, isClaim }, i) => {
      const where = `n${on % nodes.length}`;
      const place = isClaim ? { nominatedNodeName: where, priority: 9 } : { nodeName: where };
      picture.pod({ name: `other-${i}`, cpu: '100m', ...place, ...labelled(app) });
    });
    this.members = members.map(({ app, cpu, hostPorts, pinned }, i) =>
      picture.pod({
        name: `m${i}`,
        cpu,
        hostPorts,
        ...labelled(app),
        ...(pinned && { nodeSelector: { disk: 'ssd' } }),
      }),
    );
  }

  get nodes(): readonly NodeInfo[] {
    return this.picture.cluster.nodes;
  }

  /** Worked out from nothing: may the pod go there, as things are? */
  fits(pod: Pod, node: NodeInfo): boolean {
    return this.fitsOwn(pod, node, false) && this.#isLawful(pod, node, false) && this.#beside(pod, node);
  }

  /** To the plugins that read one node alone. */
  fitsOwn(pod: Pod, node: NodeInfo, beside = true): boolean {
    const { profile } = this.picture;
    const state = new CycleState();
    profile.preFilter(state, pod);
    const claimants = beside ? this.#claimants(pod, node) : [];
    for (const claimant of claimants) node.addPod(claimant);
    const fits = profile.filter(profile.localFilters, state, pod, node) === undefined;
    for (const claimant of claimants.toReversed()) node.removePod(claimant);
    return fits;
  }

  #claimants(pod: Pod, node: NodeInfo): Pod[] {
    return [...node.claims.values()].filter((claim) => mustRespect(pod, claim)).map(({ claimant }) => claimant);
  }

  #isLawful(pod: Pod, node: NodeInfo, beside: boolean): boolean {
    if (!concerns(pod)) return true;
    const occupancy = occupancyOf(this.nodes);
    if (beside && this.#seesClaims) occupancy.get(node.name)!.push(...this.#claimants(pod, node));
    return !isKeptOff(this.#law, pod, node, this.nodes, occupancy);
  }

  #beside(pod: Pod, node: NodeInfo): boolean {
    return this.fitsOwn(pod, node, true) && this.#isLawful(pod, node, true);
  }

  /** Every node's total, worked out from nothing. */
  totals(pod: Pod, nodes: readonly NodeInfo[]): Map<NodeInfo, number> {
    const { profile } = this.picture;
    const state = new CycleState();
    profile.preFilter(state, pod);
    const sums = new Map(nodes.map((node) => [node, 0]));
    for (const { plugin, weight } of profile.scorers) {
      if (plugin.preScore?.(state, pod, () => nodes)?.code === 'Skip') continue;
      const scores = Float64Array.from(nodes, (node) => plugin.score!(state, pod, node));
      plugin.normalizeScore?.(state, pod, scores);
      nodes.forEach((node, i) => sums.set(node, sums.get(node)! + weight * scores[i]!));
    }
    return sums;
  }
}

describe('a plan with a plugin that reads other nodes', () => {
  it('places each member lawfully and as well as can be, and leaves none out that could be placed', () => {
    fc.assert(
      fc.property(scene, (given) => {
        const world = new World(given);
        const { cluster, planner, profile } = world.picture;
        const needed = Math.max(1, world.members.length - given.spare);
        const transaction = cluster.begin();
        const { placements, blocked } = planner.plan(
          { profile, members: world.members, needed, groupState: new CycleState() },
          transaction,
        );
        transaction.rollback();
        const again = cluster.begin();
        for (const { pod, nodeName } of placements) {
          const feasible = world.nodes.filter((node) => world.fits(pod, node));
          const node = cluster.node(nodeName)!;
          expect(feasible, `${pod.name} on ${nodeName}`).toContain(node);
          const totals = world.totals(pod, feasible);
          expect(totals.get(node)).toBeCloseTo(Math.max(...totals.values()), 6);
          again.assume(pod, node);
        }
        if (placements.length < needed) {
          expect(blocked).toBeDefined();
          const left = world.members.filter(({ uid }) => !cluster.isAssumed(uid));
          const possible = left.filter((pod) => world.nodes.some((node) => world.fitsOwn(pod, node)));
          if (placements.length + possible.length >= needed) {
            for (const pod of possible) {
              for (const node of world.nodes) expect(world.fits(pod, node), `${pod.name} on ${node.name}`).toBe(false);
            }
          }
        }
        again.rollback();
      }),
      { numRuns: 1000 },
    );
  });
});
