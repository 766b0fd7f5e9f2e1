import { describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import type { CoreHarness } from '../../../testkit/core-harness.ts';
import { NodeCheck } from './node-check.ts';
import type { NodeAssignment } from './planner.ts';
import { openOnePerNode } from '../testing/one-per-node.ts';
import { harnessWith } from '../testing/planning.ts';

describe('the node check of an assumed pod', () => {
  /** harness -> cluster generation when members were last placed */
  const plannedAt = new WeakMap<CoreHarness, number>();

  /** Plans and assumes the members, and returns their node assignments. */
  function place(harness: CoreHarness, members: readonly Pod[]): readonly NodeAssignment[] {
    const transaction = harness.cluster.begin();
    const { assignments } = harness.planner.plan(
      { profile: harness.profile, members, needed: members.length, groupState: new CycleState() },
      transaction,
    );
    transaction.commit();
    plannedAt.set(harness, harness.cluster.generation);
    return assignments;
  }

  function problemOf(harness: CoreHarness, assignment: NodeAssignment, since?: number): string | undefined {
    return new NodeCheck(harness.cluster).problems(harness.profile, [assignment], since).get(assignment)?.message;
  }

  function check(harness: CoreHarness, assignment: NodeAssignment): string | undefined {
    const before = harness.capacities();
    const message = problemOf(harness, assignment);
    // The generation of the plan makes no difference to the result.
    expect(problemOf(harness, assignment, plannedAt.get(harness))).toBe(message);
    expect(harness.capacities()).toEqual(before);
    return message;
  }

  it("does not count the pod's own requests, but counts those of its siblings", () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const assignments = place(harness, harness.pods(2, { name: 'w', cpu: 1 }));
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([undefined, undefined]);
    harness.pod({ name: 'late', cpu: 1, nodeName: 'a' });
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([
      'Insufficient cpu',
      'Insufficient cpu',
    ]);
  });

  it('sees changes of the node', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const [assignment] = place(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    harness.node({ name: 'a', cpu: 2, unschedulable: true });
    expect(check(harness, assignment!)).toBe('node(s) were unschedulable');
    harness.node({ name: 'a', cpu: 2, taints: ['only=others:NoSchedule'] });
    expect(check(harness, assignment!)).toMatch(/untolerated taint/);
    harness.cluster.removeNode('a');
    expect(problemOf(harness, assignment!)).toBe('the chosen node is gone');
  });

  it('runs no Filter on a node that has not changed since, even if other nodes have', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 2 });
    const [assignment] = place(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    const since = harness.cluster.generation;
    const isOther = assignment!.nodeName === 'a' ? 'b' : 'a';
    harness.pod({ name: 'late', cpu: 2, nodeName: isOther });
    const filters = (): number =>
      [...harness.profile.calls()].filter(({ point }) => point === 'Filter').reduce((sum, { calls }) => sum + calls, 0);
    const before = filters();
    expect(problemOf(harness, assignment!, since)).toBeUndefined();
    expect(filters()).toBe(before);
    harness.pod({ name: 'there', cpu: 2, nodeName: assignment!.nodeName });
    expect(problemOf(harness, assignment!, since)).toBe('Insufficient cpu');
  });

  it('rejects a pod that is no longer assumed', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const [pod] = harness.pods(1, { name: 'w', cpu: 1 });
    const [assignment] = place(harness, [pod!]);
    harness.cluster.setPod({ ...pod!, nodeName: 'b' });
    expect(check(harness, assignment!)).toBe('pod default/w-0 was deleted or bound elsewhere');
  });

  it('does not count the pod itself in the PreFilter state of a plugin that reads other nodes', () => {
    const { harness } = openOnePerNode();
    const members = harness.pods(3, { name: 'w', cpu: 1, labels: { app: 'w' } });
    const assignments = place(harness, members);
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([undefined, undefined, undefined]);
  });

  it('runs the plugins that read other nodes too, but not those that skipped the pod', () => {
    let isShut = false;
    const shut = new Status('Unschedulable', 'shut');
    const gate = (name: string, more: Partial<Plugin>): Plugin => ({
      name,
      readsOtherNodes: true,
      filter: () => (isShut ? shut : undefined),
      ...more,
    });
    const harness = harnessWith(gate('Skipping', { preFilter: () => skip }));
    const other = harnessWith(gate('Judging', {}));
    const answers = [harness, other].map((each) => {
      isShut = false;
      each.node({ name: 'a', cpu: 2 });
      const [assignment] = place(each, each.pods(1, { name: 'w', cpu: 1 }));
      isShut = true;
      return check(each, assignment!);
    });
    expect(answers).toEqual([undefined, 'shut']);
  });

  it('sees new pods that violate anti-affinity, and the loss of pods that affinity needs', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 4, labels: { zone: 'z' } });
    harness.pod({ name: 'leader', cpu: 1, nodeName: 'a', labels: { app: 'leader' } });
    const term = (app: string): object => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app } } });
    const [assignment] = place(
      harness,
      harness.pods(1, {
        name: 'w',
        cpu: 1,
        spec: {
          affinity: {
            podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('leader') as never] },
            podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('noisy') as never] },
          },
        },
      }),
    );
    expect(check(harness, assignment!)).toBeUndefined();
    const noisy = harness.pod({ name: 'noisy', cpu: 1, nodeName: 'b', labels: { app: 'noisy' } });
    expect(check(harness, assignment!)).toBe("node(s) didn't match pod anti-affinity rules");
    harness.cluster.removePod(noisy.uid);
    expect(check(harness, assignment!)).toBeUndefined();
    harness.cluster.removePod([...harness.cluster.pods()].find(({ name }) => name === 'leader')!.uid);
    expect(check(harness, assignment!)).toBe("node(s) didn't match pod affinity rules");
  });

  it('does not count siblings that were placed later and whose nodeSelector lets them exceed the maxSkew', () => {
    const harness = harnessWith();
    for (const [name, cpu, zone] of [
      ['a', 9, 'y'],
      ['b', 2, 'y'],
      ['c', 2, 'z'],
    ] as const) {
      harness.node({ name, cpu, labels: { zone } });
    }
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' } as const;
    const labels = { app: 'w' };
    const spec = { topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: labels } }] };
    const [hard] = harness.pods(1, { name: 'hard', cpu: 5, labels, spec });
    const [easy] = harness.pods(1, { name: 'easy', cpu: 1, labels, spec, nodeSelector: { zone: 'y' } });
    const planned = place(harness, [easy!, hard!]);
    expect(planned.map(({ pod }) => pod.name)).toEqual(['hard-0', 'easy-0']);
    const checked = (): (string | undefined)[] => {
      const before = harness.capacities();
      const check = new NodeCheck(harness.cluster);
      const problems = check.problems(harness.profile, planned, -1, planned);
      for (const each of planned)
        expect(check.problems(harness.profile, [each], -1, planned).get(each)).toBe(problems.get(each));
      expect(harness.capacities()).toEqual(before);
      return planned.map((assignment) => problems.get(assignment)?.message);
    };
    expect(checked()).toEqual([undefined, undefined]);
    harness.pod({ name: 'late', cpu: 1, nodeName: 'b', labels });
    expect(checked()).toEqual(["node(s) didn't match pod topology spread constraints", undefined]);
  });

  it('takes each pod off its node at most twice, however many fit only without siblings that were placed later', () => {
    const harness = harnessWith();
    for (const [name, cpu, zone] of [
      ['a', 90, 'y'],
      ['b', 2, 'z'],
    ] as const) {
      harness.node({ name, cpu, labels: { zone } });
    }
    const spread = { maxSkew: 10, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' } as const;
    const labels = { app: 'w' };
    const spec = { topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: labels } }] };
    const hard = harness.pods(10, { name: 'hard', cpu: 5, labels, spec });
    const planned = place(harness, [
      ...hard,
      ...harness.pods(10, { name: 'easy', cpu: 1, labels, spec, nodeSelector: { zone: 'y' } }),
    ]);
    const takeOff = vi.spyOn(NodeInfo.prototype, 'takeOff');
    const check = new NodeCheck(harness.cluster);
    expect(check.problems(harness.profile, planned).size).toBe(hard.length);
    takeOff.mockClear();
    expect(check.problems(harness.profile, planned, -1, planned).size).toBe(0);
    const takenOff = takeOff.mock.calls.reduce((sum, [pods]) => sum + pods.length, 0);
    takeOff.mockRestore();
    expect(takenOff).toBe(2 * planned.length);
  });

  it('reads nothing about other nodes for a pod without such terms, even if other pods have them', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 9, labels: { zone: 'z' } });
    const apart = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'loner' } } };
    const spread = { ...apart, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' } as const;
    harness.pod({
      cpu: 1,
      nodeName: 'a',
      labels: { app: 'loner' },
      spec: {
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
        topologySpreadConstraints: [spread],
      },
    });
    const assignments = place(harness, harness.pods(3, { name: 'w', cpu: 1, labels: { app: 'w' } }));
    const { placed: journal } = harness.cluster;
    const reads = [
      vi.spyOn(journal, 'changesSince'),
      vi.spyOn(journal, 'classes'),
      vi.spyOn(journal, 'version', 'get'),
    ];
    const before = [...harness.profile.calls()].map(({ calls }) => calls);
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([undefined, undefined, undefined]);
    for (const read of reads) expect(read).not.toHaveBeenCalled();
    const called = [...harness.profile.calls()]
      .filter(({ calls }, i) => calls > before[i]!)
      .map(({ plugin }) => plugin);
    expect(called).toContain('NodeResourcesFit');
    expect(called).not.toEqual(expect.arrayContaining(['InterPodAffinity']));
    expect(called).not.toEqual(expect.arrayContaining(['PodTopologySpread']));
  });

  it('names a plugin that throws, and leaves the node as it was', () => {
    let isBroken = false;
    const harness = harnessWith({
      name: 'Broken',
      sign: () => '',
      filter: () => {
        if (isBroken) throw new Error('a bug');
        return undefined;
      },
    });
    harness.node({ name: 'a', cpu: 2 });
    const [assignment] = place(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    isBroken = true;
    harness.node({ name: 'a', cpu: 3 });
    expect(check(harness, assignment!)).toBe('Broken failed in Filter: a bug');
  });
});
