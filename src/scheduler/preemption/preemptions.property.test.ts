import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { cpuId } from '../../api/resource-names.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';

const scene = fc.record({
  nodes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
  others: fc.array(fc.record({ cpu: fc.integer({ min: 1, max: 2 }), on: fc.nat(3), isReservation: fc.boolean() }), {
    maxLength: 6,
  }),
  members: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 4 }),
  bound: fc.nat(1),
  results: fc.array(
    fc.record({
      isThorough: fc.boolean(),
      nominations: fc.array(fc.record({ member: fc.nat(4), on: fc.nat(4) }), { maxLength: 6 }),
      victims: fc.array(fc.nat(5), { maxLength: 4 }),
      throws: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 3, maxLength: 3 },
  ),
});

describe('any result of PostFilter', () => {
  it('evicts no pod unless all required members then fit in reserved capacity', () => {
    fc.assert(
      fc.property(scene, ({ nodes, others, members, bound, results }) => {
        let calls = 0;
        const postFilter = (schedulingEntity: SchedulingEntity): PostFilterResult | undefined => {
          const choice = schedulingEntity.kind === 'gang' ? results[calls++] : undefined;
          if (choice === undefined) return undefined;
          if (choice.throws) throw new Error('a bug');
          const { cluster } = core.harness;
          const everywhere = members.flatMap((_, member) => nodes.map((__, on) => ({ member, on })));
          const requested = choice.isThorough ? everywhere : choice.nominations;
          return {
            message: 'Preempts pods.',
            nominations: requested.flatMap(({ member, on }) => {
              const pod = cluster.pod(`red-${member}`);
              return pod === undefined ? [] : [{ pod, nodeName: `n${on}` }];
            }),
            victims: [...new Set(choice.victims)].flatMap((i) => {
              const pod = cluster.pod(`other-${i}`);
              return pod === undefined || pod.nodeName === '' ? [] : [pod];
            }),
          };
        };
        const plugin: Plugin = { name: 'Preempting', postFilter };
        const core: Queueing = new Queueing({ plugins: withoutPreemption, extra: [plugin] });
        const { cluster } = core.harness;
        nodes.forEach((cpu, i) => core.node({ name: `n${i}`, cpu }));
        others.forEach(({ cpu, on, isReservation }, i) => {
          const nodeName = `n${on % nodes.length}`;
          const gates = { gates: ['shut'], nominatedNodeName: nodeName, priority: 1 };
          core.pod({ name: `other-${i}`, cpu, ...(isReservation ? gates : { nodeName }) });
        });
        core.group({ name: 'red', minMember: members.length + bound });
        if (bound > 0) core.pod({ name: 'red-bound', group: 'red', cpu: '10m', nodeName: 'n0', phase: 'Running' });
        members.forEach((cpu, i) => core.pod({ name: `red-${i}`, group: 'red', cpu }));
        const gang = cluster.gang('default/red')!;
        for (let attempt = 0; attempt < 3; attempt++) {
          const { evicted } = core.harness;
          const before = evicted.length;
          const needed = gang.missing;
          const result = core.harness.core.attempt();
          if (result?.kind === 'planned') break;
          const reservations = [...gang.pending.values()].flatMap(({ uid }) => cluster.reservationOf(uid) ?? []);
          if (evicted.length > before) {
            expect(reservations).toHaveLength(needed);
            const evictedNames = new Set(evicted.map((text) => text.split(' ')[0]!));
            for (const node of cluster.nodes) {
              const remaining = [...node.pods.values()].filter(({ name }) => !evictedNames.has(name));
              const reserved = reservations.filter(({ nodeName }) => nodeName === node.name).map(({ owner }) => owner);
              const otherReserved = [...node.reservations.values()]
                .map(({ owner }) => owner)
                .filter((pod) => pod.podGroupKey !== 'default/red');
              const cpu = (pods: readonly Pod[]): number =>
                pods.reduce((sum, { template }) => sum + template.nonZeroMilliCpu, 0);
              if (reserved.length > 0) {
                expect(cpu([...remaining, ...reserved, ...otherReserved])).toBeLessThanOrEqual(
                  node.allocatable.of(cpuId),
                );
              }
            }
          }
          if (reservations.length === 0) expect(evicted).toHaveLength(before);
          expect(cluster.assumedCount).toBe(0);
          core.harness.clock.advance(20_000);
          core.harness.core.cluster.nodes.forEach((_, i) => core.node({ name: `n${i}`, cpu: nodes[i]! }));
        }
        void core.harness.core.stop();
      }),
      { numRuns: 500 },
    );
  });
});
