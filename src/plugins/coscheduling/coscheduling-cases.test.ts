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

/** The plugin over two nodes of 4 cpu; `asked` is the pod that it is asked about. */
class Case {
  readonly build = new Builders();
  readonly handle = pluginHandle(this.build);
  readonly plugin = new Coscheduling({}, this.handle);
  asked: Pod | undefined;

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
      this.asked ??= pod;
    }
    return this;
  }

  preFilter(): Status | undefined {
    return this.plugin.preFilter(new CycleState(), this.asked!);
  }

  permit(): Status | Wait | undefined {
    return this.plugin.permit(new CycleState(), this.asked!);
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
  it('F1 passes a pod of no group, whatever groups there are', () => {
    expect(new Case([{ name: 'pg1', minMember: 2 }]).pods({}, pg1).preFilter()).toBeUndefined();
  });

  it('F2 rejects a pod whose group is absent, and says so', () => {
    // Upstream lets it pass and rejects it at Permit, after Filter and perhaps preemption ran on its behalf.
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
    // Upstream's case says "equal" but repeats the one before; this is what the title means.
    expect(new Case([{ name: 'pg1', minMember: 3 }]).pods(pg1, pg1, pg1).preFilter()).toBeUndefined();
  });

  it('F6 passes when the members without gates are enough', () => {
    expect(new Case([{ name: 'pg1', minMember: 2 }]).pods(pg1, pg1, gatedMember).preFilter()).toBeUndefined();
  });

  it('F7 rejects when a gated member is needed for the quorum', () => {
    expect(new Case([{ name: 'pg1', minMember: 3 }]).pods(pg1, pg1, gatedMember).preFilter()).toMatchObject(
      rejection(/^PodGroup ns1\/pg1 has 2 of the 3 members it needs to start, 1 of the others has scheduling gates$/),
    );
  });

  it('F8 rejects when too many siblings are gated', () => {
    expect(new Case([{ name: 'pg1', minMember: 2 }]).pods(pg1, gatedMember, gatedMember).preFilter()).toMatchObject(
      rejection(/has 1 of the 2 members it needs to start, 2 of the others have scheduling gates$/),
    );
  });

  it('F9 passes when the cluster has the group’s minResources free', () => {
    const groups = [{ name: 'pg1', minMember: 2, minResources: { cpu: 6 } }];
    expect(new Case(groups).pods(pg1, pg1, pg1).preFilter()).toBeUndefined();
  });

  it('F10 rejects when the cluster has less than minResources free, and says how much', () => {
    const groups = [{ name: 'pg1', minMember: 2, minResources: { cpu: 10 } }];
    expect(new Case(groups).pods(pg1, pg1, pg1).preFilter()).toMatchObject(
      rejection(/ask for 10 of cpu, but only 8 is free in the whole cluster/),
    );
  });
});

describe('the sum of free room', () => {
  function shortfall(running: readonly PodOptions[]): ReturnType<ClusterCapacity['shortfall']> {
    const build = new Builders();
    const { cluster } = pluginHandle(build);
    for (const name of ['a', 'b']) cluster.setNode(build.projectedNode({ name, cpu: 3 }));
    const pods = running.map((options) => build.projectedPod({ namespace: 'ns1', ...options }));
    for (const pod of pods) cluster.setPod(pod);
    const own = pods.filter((pod) => pod.podGroupKey === 'ns1/pg1');
    return new ClusterCapacity(cluster).shortfall({ ids: [cpuId], amounts: [4000] }, own);
  }

  it('R1 is enough beside a foreign pod of two on one node', () => {
    expect(shortfall([{ cpu: 2, nodeName: 'a' }])).toBeUndefined();
  });

  it('R2 is not enough beside another foreign pod of one', () => {
    const running = [
      { cpu: 2, nodeName: 'a' },
      { cpu: 1, nodeName: 'b' },
    ];
    expect(shortfall(running)).toEqual({ id: cpuId, needed: 4000, free: 3000, isForGood: false });
  });

  it('R3 counts the room of the group’s own pods as free', () => {
    const running = [
      { cpu: 2, nodeName: 'a', group: 'pg1' },
      { cpu: 1, nodeName: 'b' },
    ];
    expect(shortfall(running)).toBeUndefined();
  });

  it('takes an over-committed node for full, never for less', () => {
    const running = [
      { cpu: 9, nodeName: 'a' },
      { cpu: 1, nodeName: 'b' },
    ];
    expect(shortfall(running)).toEqual({ id: cpuId, needed: 4000, free: 2000, isForGood: false });
  });
});

describe('Permit', () => {
  const groups = [
    { name: 'pg1', minMember: 1 },
    { name: 'pg2', minMember: 2 },
  ];

  it('P1 passes a pod of no group', () => {
    expect(new Case(groups).pods({}).permit()).toBeUndefined();
  });

  it('P2 makes the first member of a group of two wait', () => {
    expect(new Case(groups).pods({ group: 'pg2' }).permit()).toEqual({ waitMs: 60_000 });
  });

  it('P3 passes the only member of a group of one', () => {
    expect(new Case(groups).pods({ group: 'pg1' }).permit()).toBeUndefined();
  });

  it('P4 rejects a pod whose group is absent', () => {
    const answer = new Case(groups).pods({ group: 'absent' }).permit();
    expect(answer).toBeInstanceOf(Status);
    expect(answer).toMatchObject({ code: 'Unschedulable', message: 'PodGroup ns1/absent not found' });
  });

  it('P5 passes a member whose sibling is on a node already', () => {
    const asked = new Case([{ name: 'pg1', minMember: 2 }]).pods(pg1, { ...pg1, nodeName: 'node-a' });
    expect(asked.permit()).toBeUndefined();
  });
});
