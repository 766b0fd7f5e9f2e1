import fc from 'fast-check';
import { expect, it } from 'vitest';
import { defaultPlugins } from '../../plugins/registry.ts';
import { AskedExtenders } from '../testing/asked-extender.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const nodeNames = ['a', 'b', 'c', 'd'];
/** Selects an item by number. */
const n = fc.nat(11);
/** Possible events, in any order. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('attempt' as const), n }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          'member' as const,
          'lone' as const,
          'remove' as const,
          'relabel' as const,
          'node' as const,
        ),
        n,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('time' as const, 'bind' as const), n }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('answer' as const, 'answer' as const, 'fail' as const),
        n,
        nodes: fc.subarray(nodeNames),
      }),
    },
  ),
  { maxLength: 60 },
);

/**
 * Pods go only to nodes that an extender left for their class, groups start as a whole, and in the end no entity is lost.
 */
it('extender rules hold for any events during calls, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const outside = new AskedExtenders(
        { name: 'one' },
        { name: 'two', isIgnorable: true, verbs: ['filter', 'prioritize'] },
      );
      const core = new Scheduling({ plugins: defaultPlugins, ports: { extenders: outside } });
      const { cluster } = core.harness;
      /** pod class -> nodes that the first extender, which is not ignorable, ever left */
      const left = new Map<string, Set<string>>();
      const classOf = (pod: { readonly labels: Readonly<Record<string, string>> }): string => pod.labels.kind ?? '';
      for (const name of nodeNames.slice(0, 3)) core.node({ name, cpu: 2 });
      for (const name of ['red', 'blue']) core.group({ name, minMember: 3 });
      const existing = new Set<string>();
      const addPod = (name: string, group: string | undefined, kind: number): void => {
        if (existing.has(name)) return;
        existing.add(name);
        core.pod({
          name,
          cpu: 1,
          labels: { kind: `${group ?? name}-${kind % 2}` },
          ...(group !== undefined && { group }),
        });
      };
      const respond = (index: number, nodes: readonly string[], fails: boolean): void => {
        const asked = outside.asked[index % Math.max(1, outside.asked.length)];
        if (asked === undefined) return;
        outside.asked.splice(outside.asked.indexOf(asked), 1);
        if (fails) asked.fail('broken');
        else if (asked.verb === 'prioritize') asked.score({ [nodes[0] ?? 'a']: 5 });
        else {
          const names = asked.nodes.filter((name) => nodes.includes(name));
          const pod = cluster.pod(asked.pod);
          if (asked.extender === 'one' && pod !== undefined) {
            const kind = classOf(pod);
            left.set(kind, new Set([...(left.get(kind) ?? []), ...names]));
          }
          asked.leave(names);
        }
      };
      const check = (): void => {
        for (const node of cluster.nodes) expect(node.pods.size).toBeLessThanOrEqual(2);
        for (const gang of cluster.gangs()) {
          const placed = gang.count('bound') + gang.count('planned');
          if (gang.spec !== undefined && !gang.started && placed > 0 && removed.size === 0) {
            expect(placed).toBeGreaterThanOrEqual(3);
          }
        }
        const states = Object.values(core.states());
        expect(states).not.toContain('inFlight');
        for (const { binding } of core.binds) {
          const pod = cluster.pod(binding.uid);
          if (pod !== undefined && !relabeled.has(pod.name)) expect(left.get(classOf(pod))).toContain(binding.nodeName);
        }
      };
      const removed = new Set<string>();
      const relabeled = new Set<string>();
      for (const step of script) {
        const names = [...existing];
        const chosen = names[step.n % Math.max(1, names.length)];
        switch (step.kind) {
          case 'attempt':
            core.harness.core.attempt();
            break;
          case 'member':
            addPod(
              `${step.n % 2 === 0 ? 'red' : 'blue'}-${step.n % 6}`,
              step.n % 2 === 0 ? 'red' : 'blue',
              step.n >> 1,
            );
            break;
          case 'lone':
            addPod(`lone-${step.n % 3}`, undefined, 0);
            break;
          case 'remove':
            if (chosen === undefined || cluster.nodeOf(cluster.pod(chosen)!) !== undefined) break;
            existing.delete(chosen);
            removed.add(chosen);
            core.removePod(chosen);
            break;
          case 'relabel': {
            const pod = chosen === undefined ? undefined : cluster.openPod(chosen);
            if (pod === undefined) break;
            relabeled.add(pod.name);
            core.change(pod.uid, { labels: { ...pod.labels, kind: `${pod.labels.kind}x` } });
            break;
          }
          case 'node':
            core.node({ name: nodeNames[step.n % 4]!, cpu: 2, labels: { n: `${step.n}` } });
            break;
          case 'time':
            core.harness.clock.advance(step.n * 500);
            break;
          case 'bind':
            await core.settle();
            if (core.binds.length > 0) await core.accept(core.binds[step.n % core.binds.length]!.binding.name);
            break;
          case 'answer':
          case 'fail':
            respond(step.n, step.nodes, step.kind === 'fail');
            await core.settle();
            break;
        }
        check();
      }
      // From now on the extenders respond and allow everything, so every entity that fits starts.
      core.node({ name: 'd', cpu: 2 });
      for (let round = 0; round < 8; round++) {
        core.harness.clock.advance(30_000);
        for (let i = 0; i < 12; i++) {
          const result = core.harness.core.attempt();
          while (outside.asked.length > 0) {
            respond(0, nodeNames, false);
            await core.settle();
          }
          await core.settle();
          if (result === undefined && core.harness.core.attempt() === undefined) break;
        }
      }
      check();
      for (const state of Object.values(core.states())) expect(['gated', 'unschedulable', 'backoff']).toContain(state);
      const waiting = Object.entries(core.states()).filter(([, state]) => state !== 'gated');
      const capacity = cluster.nodes.reduce((sum, node) => sum + 2 - node.pods.size, 0);
      for (const [key] of waiting) expect(key.startsWith('gang/') ? 3 : 1).toBeGreaterThan(capacity);
      const stopped = core.harness.core.stop();
      while (core.binds.length > 0) await core.reject(core.binds[0]!.binding.name, 'stopping');
      await stopped;
      expect(outside.open).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
