import { describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import type { CoreHarness } from '../../../testkit/core-harness.ts';
import { NodeCheck } from './node-check.ts';
import type { NodeAssignment } from './planner.ts';
import { openOnePerNode } from '../testing/one-per-node.ts';
import { harnessWith } from '../testing/planning.ts';

describe('the check of a placement', () => {
  /** picture -> its generation when members were last placed */
  const plannedAt = new WeakMap<CoreHarness, number>();

  /** Plans and assumes the members, and answers their placements. */
  function placed(harness: CoreHarness, members: readonly Pod[]): readonly NodeAssignment[] {
    const transaction = harness.cluster.begin();
    const { assignments } = harness.planner.plan(
      { profile: harness.profile, members, needed: members.length, groupState: new CycleState() },
      transaction,
    );
    transaction.commit();
    plannedAt.set(harness, harness.cluster.generation);
    return assignments;
  }

  function check(harness: CoreHarness, assignment: NodeAssignment): string | undefined {
    const before = harness.capacities();
    const nodeCheck = new NodeCheck(harness.cluster);
    const status = nodeCheck.stillFits(harness.profile, assignment);
    // To know since when makes no difference to the answer.
    expect(nodeCheck.stillFits(harness.profile, assignment, plannedAt.get(harness))?.message).toBe(status?.message);
    expect(harness.capacities()).toEqual(before);
    return status?.message;
  }

  it('leaves its own room aside, but not that of its siblings', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const assignments = placed(harness, harness.pods(2, { name: 'w', cpu: 1 }));
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([undefined, undefined]);
    harness.pod({ name: 'late', cpu: 1, nodeName: 'a' });
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([
      'Insufficient cpu',
      'Insufficient cpu',
    ]);
  });

  it('sees what has become of the node', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const [assignment] = placed(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    harness.node({ name: 'a', cpu: 2, unschedulable: true });
    expect(check(harness, assignment!)).toBe('node(s) were unschedulable');
    harness.node({ name: 'a', cpu: 2, taints: ['only=others:NoSchedule'] });
    expect(check(harness, assignment!)).toMatch(/untolerated taint/);
    harness.cluster.removeNode('a');
    expect(new NodeCheck(harness.cluster).stillFits(harness.profile, assignment!)?.message).toBe('node a is gone');
  });

  it('asks no Filter about a node that has not changed since, however much others have', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 2 });
    const [assignment] = placed(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    const since = harness.cluster.generation;
    const isOther = assignment!.nodeName === 'a' ? 'b' : 'a';
    harness.pod({ name: 'late', cpu: 2, nodeName: isOther });
    const filters = (): number =>
      [...harness.profile.calls()].filter(({ point }) => point === 'Filter').reduce((sum, { calls }) => sum + calls, 0);
    const before = filters();
    expect(new NodeCheck(harness.cluster).stillFits(harness.profile, assignment!, since)).toBeUndefined();
    expect(filters()).toBe(before);
    harness.pod({ name: 'there', cpu: 2, nodeName: assignment!.nodeName });
    expect(new NodeCheck(harness.cluster).stillFits(harness.profile, assignment!, since)?.message).toBe(
      'Insufficient cpu',
    );
  });

  it('rejects a pod that is no longer assumed', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const [pod] = harness.pods(1, { name: 'w', cpu: 1 });
    const [assignment] = placed(harness, [pod!]);
    harness.cluster.setPod({ ...pod!, nodeName: 'b' });
    expect(check(harness, assignment!)).toBe('pod default/w-0 was deleted or bound elsewhere');
  });

  it('leaves it aside, too, in what a plugin that reads other nodes was told of along the plan', () => {
    const { harness } = openOnePerNode();
    const members = harness.pods(3, { name: 'w', cpu: 1, labels: { app: 'w' } });
    const assignments = placed(harness, members);
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([undefined, undefined, undefined]);
  });

  it('asks the plugins that read other nodes as well, but not those that skipped the pod', () => {
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
      const [assignment] = placed(each, each.pods(1, { name: 'w', cpu: 1 }));
      isShut = true;
      return check(each, assignment!);
    });
    expect(answers).toEqual([undefined, 'shut']);
  });

  it('sees who has come that it does not want near it, and whom it wants and who has gone', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 4, labels: { zone: 'z' } });
    harness.pod({ name: 'leader', cpu: 1, nodeName: 'a', labels: { app: 'leader' } });
    const term = (app: string): object => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app } } });
    const [assignment] = placed(
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

  it('asks nothing about other nodes for a pod that has nothing to do with them, whatever others say of each other', () => {
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
    const assignments = placed(harness, harness.pods(3, { name: 'w', cpu: 1, labels: { app: 'w' } }));
    const { placed: journal } = harness.cluster;
    const reads = [
      vi.spyOn(journal, 'changesSince'),
      vi.spyOn(journal, 'classes'),
      vi.spyOn(journal, 'version', 'get'),
    ];
    const before = [...harness.profile.calls()].map(({ calls }) => calls);
    expect(assignments.map((assignment) => check(harness, assignment))).toEqual([undefined, undefined, undefined]);
    for (const read of reads) expect(read).not.toHaveBeenCalled();
    const asked = [...harness.profile.calls()].filter(({ calls }, i) => calls > before[i]!).map(({ plugin }) => plugin);
    expect(asked).toContain('NodeResourcesFit');
    expect(asked).not.toEqual(expect.arrayContaining(['InterPodAffinity']));
    expect(asked).not.toEqual(expect.arrayContaining(['PodTopologySpread']));
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
    const [assignment] = placed(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    isBroken = true;
    harness.node({ name: 'a', cpu: 3 });
    expect(check(harness, assignment!)).toBe('Broken failed in Filter: a bug');
  });
});
