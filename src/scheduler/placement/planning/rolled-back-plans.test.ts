import { describe, expect, it } from 'vitest';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { Queueing } from '../../../testkit/queueing.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { stateOfNode } from '../testing/state-of-node.ts';

function gangOf(harness: CoreHarness, name: string): SchedulingEntity & { kind: 'gang' } {
  return { kind: 'gang', gang: harness.cluster.gang(`default/${name}`)! };
}

/** Returns all state of the cluster cache that a dry run must not change. */
function snapshot({ cluster }: CoreHarness): unknown {
  return {
    nodes: cluster.nodes.map(stateOfNode),
    gangs: [...cluster.gangs()].map((gang) => ({
      key: gang.key,
      started: gang.started,
      missing: gang.missing,
      counted: gang.counted,
      members: [...gang.members].map(([uid, pod]) => [uid, pod, gang.stateOf(uid)]),
      pending: [...gang.pending.keys()],
      names: [...gang.pendingBySchedulerName],
      counts: (['pending', 'gated', 'planned', 'bound', 'succeeded', 'failed', 'leaving'] as const).map((state) =>
        gang.count(state),
      ),
    })),
    pods: [...cluster.pods()].map((pod) => [pod, cluster.nodeOf(pod)?.name, cluster.reservationOf(pod.uid)]),
    assumed: cluster.assumedCount,
    revision: cluster.nodesRevision,
  };
}

const verdictOf = (core: Queueing, name: string): { message: string; waitsFor: string } | undefined =>
  core.harness.written.findLast((written) => written.name === name)?.verdict;

describe('a dry run', () => {
  it('restores the state of a member that is listed twice in `without`', () => {
    const harness = new CoreHarness({ plugins: defaultPlugins });
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'blue', minMember: 2 });
    const blue = harness.pods(2, { group: 'blue', cpu: 1, nodeName: 'a', phase: 'Running' });
    const pod = harness.pod({ name: 'x', cpu: 3 });
    const before = snapshot(harness);
    harness.core.dryRun({ kind: 'pod', pod }, { without: [...blue, blue[0]!] });
    expect(snapshot(harness)).toEqual(before);
  });

  it('does not change which nodes later plans choose', () => {
    const planned = (tries: number): (string | undefined)[] => {
      const harness = new CoreHarness({ plugins: defaultPlugins });
      for (let i = 0; i < 20; i++) harness.node({ name: `n${i}`, cpu: 4 });
      const [other, ...pods] = harness.pods(6, { name: 'w', cpu: 4 });
      harness.core.begin();
      for (let i = 0; i < tries; i++) harness.core.dryRun({ kind: 'pod', pod: other! });
      for (let i = 0; i < 6; i++) harness.core.attempt();
      return pods.map((pod) => harness.cluster.nodeOf(pod)?.name);
    };
    expect(planned(1)).toEqual(planned(0));
  });

  it('shows plugins that the removed pods have no node', () => {
    const seen: (string | undefined)[] = [];
    const harness: CoreHarness = new CoreHarness({
      plugins: defaultPlugins,
      extra: [
        {
          name: 'Looking',
          preFilter: () => {
            seen.push(harness.cluster.nodeOf(harness.cluster.pod('v')!)?.name);
            return undefined;
          },
        },
      ],
    });
    harness.node({ name: 'a', cpu: 1 });
    const victim = harness.pod({ name: 'v', uid: 'v', cpu: 1, nodeName: 'a' });
    const pod = harness.pod({ name: 'x', cpu: 1 });
    expect(harness.core.dryRun({ kind: 'pod', pod }, { without: [victim] }).fits).toBe(true);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  it('of some nodes leaves no score behind that a plan over all nodes would reuse', () => {
    const fuller: Plugin & { weight: number } = {
      name: 'Chosen',
      weight: 100,
      sign: () => '',
      preScore: (_state, _pod, feasible) => (feasible().length < 3 ? skip : undefined),
      score: (_state, _pod, node) => (node.name === 'a' ? 100 : 0),
    };
    const nodeFor = (tryFirst: boolean): string => {
      const harness = new CoreHarness({ plugins: defaultPlugins, extra: [fuller] });
      for (const [name, cpu] of [
        ['a', 4],
        ['b', 64],
        ['c', 4],
      ] as const)
        harness.node({ name, cpu });
      const pod = harness.pod({ name: 'x', cpu: 1 });
      if (tryFirst) harness.core.dryRun({ kind: 'pod', pod }, { within: new Set(['a', 'b']) });
      return harness.core.dryRun({ kind: 'pod', pod }).plan[0]!.nodeName;
    };
    expect(nodeFor(false)).toBe('a');
    expect(nodeFor(true)).toBe('a');
  });

  it('from Filter during a recheck of a plan leaves no wrong verdict behind', async () => {
    let inCheck = false;
    const asking: Plugin = {
      name: 'Asking',
      sign: () => '',
      filter: () => {
        if (!inCheck) return undefined;
        inCheck = false;
        try {
          core.harness.core.dryRun({ kind: 'pod', pod: core.harness.cluster.pod('y')! });
        } catch {
          // A dry run cannot start during a recheck.
        }
        return undefined;
      },
      preBind: () => {
        inCheck = true;
        return Promise.resolve(undefined);
      },
    };
    const core: Scheduling = new Scheduling({ plugins: defaultPlugins, extra: [asking] });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 1 });
    core.pod({ name: 'y', cpu: '500m', gates: ['shut'], tolerations: [{ key: 'only', operator: 'Exists' }] });
    core.node({ name: 'b', cpu: 64, taints: ['only=y:NoSchedule'] });
    expect(await core.attempt()).toBe('planned');
    expect(core.harness.cluster.node('a')!.free(0)).toBe(0);
    core.removeNode('b');
    core.change('y', { schedulingGates: [] });
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.cluster.node('a')!.free(0)).toBe(0);
  });

  it('reports a reason if it needs more members than there are', () => {
    const harness = new CoreHarness({ plugins: defaultPlugins });
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'red', minMember: 2 });
    harness.pods(2, { group: 'red', cpu: 1 });
    const { fits, blocked } = harness.core.dryRun(gangOf(harness, 'red'), { need: 3 });
    expect(fits).toBe(false);
    expect(blocked).toBeDefined();
  });
});

describe('the cluster totals', () => {
  /** red lacks minResources only while the other pods are there, but without them it finds no node either. */
  const dryRunThatPlacesNone = (): Queueing => {
    const core = new Queueing({ plugins: defaultPlugins });
    // Once a group has started, it is never released.
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const started = {
      type: 'Started',
      status: 'True',
      reason: 'QuorumReached',
      message: '',
      lastTransitionTime,
    } as const;
    core.group({ name: 'red', minMember: 5, minResources: { cpu: '6' }, status: { conditions: [started] } });
    for (const name of ['a', 'b', 'c']) {
      core.node({ name, cpu: 2 });
      core.pod({ name: `old-${name}`, cpu: name === 'a' ? '500m' : 1, nodeName: name });
      core.pod({ name: `red-${name}`, group: 'red', cpu: 1, nodeName: name });
    }
    core.members(2, { group: 'red', cpu: 2 });
    return core;
  };

  it('show the real cluster after a dry run that places no member: a group short of minResources does not start', () => {
    const core = dryRunThatPlacesNone();
    core.harness.core.attempt();
    // Half a CPU is free in the whole cluster, and blue asks for 3.
    core.group({ name: 'blue', minMember: 1, minResources: { cpu: '3' } });
    core.members(1, { group: 'blue', cpu: '500m' });
    expect(core.harness.core.attempt()!.kind).toBe('rejected');
  });

  it("do not change a group's verdict after a dry run while nothing else changes", () => {
    const core = dryRunThatPlacesNone();
    const verdicts = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const result = core.harness.core.attempt();
      if (result?.kind === 'rejected') verdicts.add(result.verdict.message);
      core.harness.clock.advance(400_000);
    }
    expect([...verdicts]).toHaveLength(1);
  });

  it('lead to `never` only if the group would lack resources without the other pods too (own pod on an unknown node)', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 9 });
    core.pod({ name: 'old', cpu: 5, nodeName: 'a' });
    core.group({ name: 'red', minMember: 3, minResources: { cpu: '10' } });
    core.pod({ name: 'red-b', group: 'red', cpu: 2, nodeName: 'later' });
    core.members(2, { group: 'red', cpu: 4 });
    core.harness.core.attempt();
    const waitsFor = verdictOf(core, 'red-0')!.waitsFor;
    core.removePod('old');
    core.harness.clock.advance(20_000);
    expect([waitsFor, core.harness.core.attempt()?.kind]).not.toEqual(['never', 'planned']);
  });
});
