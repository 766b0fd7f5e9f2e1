import { describe, expect, it } from 'vitest';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { Pod } from '../../api/pod.ts';
import { cpuId } from '../../api/resource-names.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Wait } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { gangSpecOf } from '../../scheduler/intake/pod-group-adapter.ts';
import { Coscheduling } from './coscheduling.ts';
import { ClusterCapacity } from './cluster-capacity.ts';

/** The plugin and a cluster of two nodes with 4 cpu each; `incoming` is the pod under test. */
class Case {
  readonly build = new Builders();
  readonly handle = pluginHandle(this.build);
  readonly plugin = new Coscheduling({}, this.handle);
  incoming: Pod | undefined;

  constructor(groups: readonly PodGroupOptions[]) {
    for (const name of ['node-a', 'node-b']) this.node({ name, cpu: 4, pods: 32 });
    for (const group of groups) {
      const spec = gangSpecOf(this.build.projectedPodGroup({ namespace: 'ns1', ...group }), this.build.resources);
      this.handle.cluster.setGang(spec);
    }
  }

  node(options: NodeOptions): void {
    this.handle.cluster.setNode(this.build.projectedNode(options));
  }

  pods(...pods: PodOptions[]): this {
    for (const options of pods) {
      const pod = this.build.projectedPod({ namespace: 'ns1', ...options });
      this.handle.cluster.setPod(pod);
      this.incoming ??= pod;
    }
    return this;
  }

  preFilter(): Status | undefined {
    return this.plugin.preFilter(new CycleState(), this.incoming!);
  }

  permit(): Status | Wait | undefined {
    return this.plugin.permit(new CycleState(), this.incoming!);
  }
}

const pg1 = { group: 'pg1' };
const gatedMember = { ...pg1, gates: ['wait'] };
const rejection = (reason: RegExp): object => ({
  code: 'UnschedulableAndUnresolvable',
  plugin: 'Coscheduling',
  message: expect.stringMatching(reason) as string,
});

describe('PreFilter', () => {
  it('F1 passes a pod without a group, whatever groups exist', () => {
    expect(new Case([{ name: 'pg1', minMember: 2 }]).pods({}, pg1).preFilter()).toBeUndefined();
  });

  it('F2 rejects a pod whose group does not exist, with this reason', () => {
    // Upstream passes it here and rejects it at Permit, after Filter and perhaps preemption have run for it.
    expect(new Case([]).pods(pg1).preFilter()).toMatchObject(
      rejection(/^PodGroup ns1\/pg1 does not exist; the pod starts when/),
    );
  });

  it('F3 rejects the only pod of a group of two', () => {
    const groups = [
      { name: 'pg1', minMember: 2 },
      { name: 'pg2', minMember: 1 },
    ];
    expect(new Case(groups).pods(pg1, { group: 'pg2' }).preFilter()).toMatchObject(
      rejection(/^PodGroup ns1\/pg1 has 1 of the 2 members it needs to start$/),
    );
  });

  it('F4 passes when there are more members than the quorum', () => {
    expect(new Case([{ name: 'pg1', minMember: 2 }]).pods(pg1, pg1, pg1).preFilter()).toBeUndefined();
  });

  it('F5 passes when there are exactly as many members as the quorum', () => {
    // Upstream's case is named "equal" but repeats the previous one; this case does what the name says.
    expect(new Case([{ name: 'pg1', minMember: 3 }]).pods(pg1, pg1, pg1).preFilter()).toBeUndefined();
  });

  it('F6 passes when the members without gates are enough', () => {
    expect(new Case([{ name: 'pg1', minMember: 2 }]).pods(pg1, pg1, gatedMember).preFilter()).toBeUndefined();
  });

  it('F7 rejects when a gated member is needed for the quorum', () => {
    expect(new Case([{ name: 'pg1', minMember: 3 }]).pods(pg1, pg1, gatedMember).preFilter()).toMatchObject(
      rejection(/^PodGroup ns1\/pg1 has 2 of the 3 members it needs to start; 1 of the others has scheduling gates$/),
    );
  });

  it('F8 rejects when too many other members are gated', () => {
    expect(new Case([{ name: 'pg1', minMember: 2 }]).pods(pg1, gatedMember, gatedMember).preFilter()).toMatchObject(
      rejection(/has 1 of the 2 members it needs to start; 2 of the others have scheduling gates$/),
    );
  });

  it('F9 passes when the cluster has the group’s minResources free', () => {
    const groups = [{ name: 'pg1', minMember: 2, minResources: { cpu: 6 } }];
    expect(new Case(groups).pods(pg1, pg1, pg1).preFilter()).toBeUndefined();
  });

  it('F10 rejects when the cluster has less than minResources free, and reports the amount', () => {
    const groups = [{ name: 'pg1', minMember: 2, minResources: { cpu: 10 } }];
    expect(new Case(groups).pods(pg1, pg1, pg1).preFilter()).toMatchObject(
      rejection(/request 10 cpu, but only 8 is free in the whole cluster/),
    );
  });
});

describe('the total free capacity', () => {
  function shortfall(running: readonly PodOptions[]): ReturnType<ClusterCapacity['shortfall']> {
    const build = new Builders();
    const { cluster } = pluginHandle(build);
    for (const name of ['a', 'b']) cluster.setNode(build.projectedNode({ name, cpu: 3 }));
    const pods = running.map((options) => build.projectedPod({ namespace: 'ns1', ...options }));
    for (const pod of pods) cluster.setPod(pod);
    const own = pods.filter((pod) => pod.podGroupKey === 'ns1/pg1');
    return new ClusterCapacity(cluster).shortfall({ ids: [cpuId], amounts: [4000] }, own);
  }

  it('R1 suffices beside a foreign pod that requests two cpu on one node', () => {
    expect(shortfall([{ cpu: 2, nodeName: 'a' }])).toBeUndefined();
  });

  it('R2 does not suffice beside another foreign pod that requests one cpu', () => {
    const running = [
      { cpu: 2, nodeName: 'a' },
      { cpu: 1, nodeName: 'b' },
    ];
    expect(shortfall(running)).toEqual({ id: cpuId, needed: 4000, free: 3000, isPermanent: false });
  });

  it('R3 counts capacity that the group’s own pods use as free', () => {
    const running = [
      { cpu: 2, nodeName: 'a', group: 'pg1' },
      { cpu: 1, nodeName: 'b' },
    ];
    expect(shortfall(running)).toBeUndefined();
  });

  it('counts an overcommitted node as full, never as negative', () => {
    const running = [
      { cpu: 9, nodeName: 'a' },
      { cpu: 1, nodeName: 'b' },
    ];
    expect(shortfall(running)).toEqual({ id: cpuId, needed: 4000, free: 2000, isPermanent: false });
  });
});

describe('Permit', () => {
  const groups = [
    { name: 'pg1', minMember: 1 },
    { name: 'pg2', minMember: 2 },
  ];

  it('P1 passes a pod without a group', () => {
    expect(new Case(groups).pods({}).permit()).toBeUndefined();
  });

  it('P2 makes the first member of a group of two wait', () => {
    expect(new Case(groups).pods({ group: 'pg2' }).permit()).toEqual({ waitMs: 60_000 });
  });

  it('P3 passes the only member of a group of one', () => {
    expect(new Case(groups).pods({ group: 'pg1' }).permit()).toBeUndefined();
  });

  it('P4 rejects a pod whose group does not exist', () => {
    const status = new Case(groups).pods({ group: 'absent' }).permit();
    expect(status).toBeInstanceOf(Status);
    expect(status).toMatchObject({ code: 'Unschedulable', message: 'PodGroup ns1/absent not found' });
  });

  it('P5 passes a member if the other one is already bound', () => {
    const testCase = new Case([{ name: 'pg1', minMember: 2 }]).pods(pg1, { ...pg1, nodeName: 'node-a' });
    expect(testCase.permit()).toBeUndefined();
  });
});
