import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo, NodeView } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import type { NodeOptions } from '../../../testkit/builders/node.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { fewPods } from '../testing/few-pods.ts';
import { NodeTable } from './node-table.ts';
import { Ranking } from './ranking.ts';
import { RankingBuffers } from './ranking-buffers.ts';
import { SignatureCache } from './signature-cache.ts';

/** Rejects the barred nodes. So the set of nodes to normalize changes although the nodes themselves do not. */
class Barring implements Plugin {
  readonly name = 'Barring';
  readonly readsOtherNodes = true;
  readonly #barred: ReadonlySet<string>;

  constructor(barred: ReadonlySet<string>) {
    this.#barred = barred;
  }

  preFilter(): Status | undefined {
    return this.#barred.size === 0 ? Status.skipThroughout : undefined;
  }

  filter(_state: CycleState, _pod: Pod, { name }: { readonly name: string }): Status | undefined {
    return this.#barred.has(name) ? new Status('Unschedulable', 'barred') : undefined;
  }
}

interface Failure {
  failsIn: 'nothing' | 'filter' | 'score';
}

/** Fails in the middle of the given extension point. */
class Flaky implements Plugin {
  readonly name = 'Flaky';
  readonly #nodes: () => readonly NodeInfo[];
  readonly #failure: Failure;

  constructor(nodes: () => readonly NodeInfo[], failure: Failure) {
    this.#nodes = nodes;
    this.#failure = failure;
  }

  sign(): string {
    return '';
  }

  filter(): undefined {
    return undefined;
  }

  filterAll(_state: CycleState, _pod: Pod, _indexes: Int32Array, size: number): number {
    if (this.#failure.failsIn === 'filter') throw new Error('not today');
    return size;
  }

  score(_state: CycleState, _pod: Pod, { pods }: NodeView): number {
    return 7 * pods.size;
  }

  scoreAll(state: CycleState, pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    for (let i = 0; i < size; i++) scores[indexes[i]!] = this.score(state, pod, this.#nodes()[indexes[i]!]!);
    if (this.#failure.failsIn === 'score') throw new Error('not today');
  }
}

const names = Array.from({ length: 7 }, (_, i) => `n${i}`);
const nodeClass: fc.Arbitrary<NodeOptions> = fc.record({
  cpu: fc.integer({ min: 1, max: 6 }),
  taints: fc.subarray(['a:NoSchedule', 'b:PreferNoSchedule', 'c:PreferNoSchedule']),
  labels: fc.constantFrom<NodeOptions['labels'] & object>({}, { disk: 'ssd' }),
});
const preferSsd = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    { weight: 5, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } },
  ],
};
const podClasses: readonly PodOptions[] = [
  { cpu: '300m' },
  { cpu: '1', tolerations: [{ key: 'b', operator: 'Exists' }] },
  { cpu: '0', nodeAffinity: preferSsd },
];
const round = fc.record({
  classIndex: fc.nat(podClasses.length - 1),
  change: fc.option(fc.record({ name: fc.constantFrom(...names), node: nodeClass })),
  gone: fc.option(fc.constantFrom(...names), { freq: 4 }),
  barred: fc.oneof(fc.constant([]), fc.subarray(names)),
  placing: fc.nat(3),
  failsIn: fc.constantFrom('nothing' as const, 'filter' as const, 'score' as const),
  end: fc.constantFrom('commit', 'rollback'),
  within: fc.option(fc.subarray(names, { minLength: 1 }), { freq: 4 }),
});

it('cached totals equal totals computed from scratch, to the last bit', () => {
  fc.assert(
    fc.property(fc.array(round, { minLength: 5, maxLength: 25, size: 'max' }), (rounds) => {
      const isBarred = new Set<string>();
      const failure: Failure = { failsIn: 'nothing' };
      const barring = new Barring(isBarred);
      const flaky = new Flaky(() => harness.cluster.nodes, failure);
      const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [fewPods, barring, flaky] });
      const { cluster, profile } = harness;
      for (const name of names) harness.node({ name, cpu: 4 });
      const cache = new SignatureCache(() => new NodeTable(profile.scorers.length), 2);
      const buffers = new RankingBuffers();
      for (const { classIndex, change, gone, barred, placing, failsIn, end, within } of rounds) {
        if (gone !== null) cluster.removeNode(gone);
        if (change !== null) harness.node({ ...change.node, name: change.name });
        isBarred.clear();
        for (const name of barred) isBarred.add(name);
        const [pod] = harness.pods(1, podClasses[classIndex]);
        const state = new CycleState();
        profile.preFilter(state, pod!);
        const target = { pod: pod!, state, nodeNames: undefined };
        const signature = profile.signaturesOf(pod!).local!;
        const rankingWith = (table: () => NodeTable, own: RankingBuffers): Ranking => {
          const scorers = [...profile.scorers.keys()].filter(
            (i) => profile.scorers[i]!.plugin.readsOtherNodes !== true,
          );
          const options = {
            profile,
            nodes: cluster.nodes,
            generations: () => cluster.generations,
            reservedFor: () => [],
            split: {
              cached: [{ filters: profile.localFilters, scorers, table }],
              uncached: { filters: [], scorers: [] },
              ownerVerdicts: undefined,
            },
            within: within?.flatMap((name) => cluster.node(name)?.index ?? []),
            hasNoReservation: (uid: string) => cluster.isAssumed(uid),
            buffers: own,
            salt: 1,
          };
          return new Ranking(options, target);
        };
        const totalsIn = ({ order }: RankingBuffers): Record<string, number> =>
          Object.fromEntries(
            [...order.indexes.subarray(0, order.size)]
              .map((index) => [cluster.nodes[index]!.name, order.totals[index]!] as const)
              .sort(([a], [b]) => (a < b ? -1 : 1)),
          );
        const expectTheSame = (cached: Ranking): void => {
          const fresh = new RankingBuffers();
          const uncached = rankingWith(() => new NodeTable(profile.scorers.length), fresh);
          uncached.build(target);
          expect(totalsIn(buffers)).toEqual(totalsIn(fresh));
          expect(cached.best()?.name).toBe(uncached.best()?.name);
        };
        const table = cache.of(signature);
        const ranking = rankingWith(() => table, buffers);
        const transaction = cluster.begin();
        ranking.build(target);
        expectTheSame(ranking);
        for (let i = 0; i < placing; i++) {
          const best = ranking.best();
          if (best === undefined) break;
          transaction.assume(harness.pods(1, podClasses[classIndex])[0]!, best);
          if (ranking.readsOthers) ranking.build(target);
          else ranking.placedOnBest();
          expectTheSame(ranking);
        }
        if (failsIn !== 'nothing') {
          // Every node has changed, and the plugins evaluate some of them before the failure.
          for (const node of cluster.nodes) transaction.assume(harness.pods(1, podClasses[classIndex])[0]!, node);
          failure.failsIn = failsIn;
          ranking.build(target);
          failure.failsIn = 'nothing';
        }
        if (end === 'commit' && failsIn === 'nothing') transaction.commit();
        else transaction.rollback();
      }
    }),
    { numRuns: 150 },
  );
});
