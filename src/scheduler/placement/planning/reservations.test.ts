import { describe, expect, it } from 'vitest';
import { Builders } from '../../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../../test/builders/plugin-handle.ts';
import { seededRandom } from '../../../base/random.ts';
import { Cluster } from '../../../cluster/cluster.ts';
import type { Pod } from '../../../api/pod.ts';
import { Profile } from '../../../framework/profile.ts';
import { defaultPlugins, pluginRegistry } from '../../../plugins/registry.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { dryRun, harnessWith } from '../testing/planning.ts';
import { Planner } from './planner.ts';
import type { Plan } from './planner.ts';

interface Fixture {
  readonly build: Builders;
  readonly cluster: Cluster;
  /** Returns the node where the pod would go. */
  readonly nodeFor: (pod: Pod) => string | undefined;
  /** Plans all members, and rolls back. */
  readonly plan: (members: readonly Pod[]) => Plan;
}

function fixture(): Fixture {
  const build = new Builders();
  const cluster = new Cluster(build.resources);
  const handle = pluginHandle(build, { cluster });
  const profile = new Profile({
    schedulerName: handle.schedulerName,
    enabled: defaultPlugins,
    registry: pluginRegistry,
    handle,
  });
  const planner = new Planner(cluster, seededRandom(1));
  const plan = (members: readonly Pod[]): Plan => {
    for (const pod of members) cluster.setPod(pod);
    const transaction = cluster.begin();
    const result = planner.plan({ profile, members, needed: members.length, groupState: undefined }, transaction);
    transaction.rollback();
    return result;
  };
  const nodeFor = (pod: Pod): string | undefined => plan([pod]).assignments[0]?.nodeName;
  return { build, cluster, nodeFor, plan };
}

describe('capacity reserved for a nominated pod', () => {
  it('is used only by pods of higher priority and by the nominated pod itself', () => {
    const { build, cluster, nodeFor } = fixture();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const nominated = build.projectedPod({ name: 'nominated', cpu: 1, priority: 10, nominatedNodeName: 'a' });
    cluster.setPod(nominated);
    expect(nodeFor(build.projectedPod({ name: 'equal', cpu: 1, priority: 10 }))).toBeUndefined();
    expect(nodeFor(build.projectedPod({ name: 'lower', cpu: 1, priority: 0 }))).toBeUndefined();
    expect(nodeFor(build.projectedPod({ name: 'higher', cpu: 1, priority: 11 }))).toBe('a');
    expect(nodeFor(nominated)).toBe('a');
  });

  it('is free again if the nomination is withdrawn, or the pod is deleted or assumed elsewhere', () => {
    const { build, cluster, nodeFor } = fixture();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const nominated = { name: 'nominated', uid: 'n', cpu: 1, priority: 10 };
    const other = build.projectedPod({ name: 'other', cpu: 1 });
    cluster.setPod(build.projectedPod({ ...nominated, nominatedNodeName: 'a' }));
    expect(nodeFor(other)).toBeUndefined();
    cluster.setPod(build.projectedPod(nominated));
    expect(nodeFor(other)).toBe('a');
    cluster.setPod(build.projectedPod({ ...nominated, nominatedNodeName: 'a' }));
    expect(nodeFor(other)).toBeUndefined();
    cluster.removePod('n');
    expect(nodeFor(other)).toBe('a');
    cluster.setPod(build.projectedPod({ ...nominated, nominatedNodeName: 'a' }));
    cluster.setNode(build.projectedNode({ name: 'b', cpu: 1, taints: ['only=owner:NoSchedule'] }));
    const transaction = cluster.begin();
    transaction.assume(cluster.pod('n')!, cluster.node('b')!);
    transaction.commit();
    expect(nodeFor(other)).toBe('a');
  });
});

describe('capacity reserved to repair a gang', () => {
  it('is closed to all other pods, whatever their priority, until it is released', () => {
    const { build, cluster, nodeFor } = fixture();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const owner = build.projectedPod({ name: 'owner', cpu: 1 });
    cluster.setPod(owner);
    cluster.reservation({ kind: 'repair', owner, nodeName: 'a', isExclusive: true, isKept: true });
    const other = build.projectedPod({ name: 'other', cpu: 1, priority: 1000 });
    expect(nodeFor(other)).toBeUndefined();
    expect(nodeFor(owner)).toBe('a');
    // An update of the owner without a nominated node does not end the reservation.
    cluster.setPod({ ...owner, resourceVersion: '2' });
    expect(nodeFor(other)).toBeUndefined();
    expect(cluster.endReservation(owner.uid)).toBe(true);
    expect(nodeFor(other)).toBe('a');
  });
});

describe('members of a gang that differ only in priority', () => {
  it('respect the reservations of other pods according to their own priority', () => {
    const { build, cluster, plan } = fixture();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 3 }));
    cluster.setPod(build.projectedPod({ name: 'nominated', cpu: 2, priority: 5, nominatedNodeName: 'a' }));
    const member = (name: string, priority: number): Pod => build.projectedPod({ name, cpu: 1, priority });
    const [high, higher, low] = [member('high', 10), member('higher', 11), member('low', 0)];
    const { assignments, blocked } = plan([high, low]);
    expect(assignments.map(({ pod }) => pod.name)).toEqual(['high']);
    expect(blocked!.pod.name).toBe('low');
    // One CPU is not reserved. Members of higher priority may use the others.
    expect(plan([low, high, higher]).assignments).toHaveLength(3);
    expect(plan([low, member('second', 0)]).assignments).toHaveLength(1);
  });

  it('are identical if there is no reservation', () => {
    const { build, cluster, plan } = fixture();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const members = [10, 0].map((priority) => build.projectedPod({ cpu: 1, priority }));
    expect(plan(members).isExhaustive).toBe(true);
  });
});

describe('Filter on nodes with reservations', () => {
  /** Logs each call as `node pods`. */
  const logging = (calls: string[], more: Partial<Plugin> = {}): Plugin => ({
    name: 'Logging',
    sign: () => '',
    preFilter: () => undefined,
    preFilterAddPod: () => undefined,
    preFilterRemovePod: () => undefined,
    filter: (_state, _pod, { name, pods }) => {
      calls.push(`${name} ${pods.size}`);
      return undefined;
    },
    ...more,
  });
  const reserve = (harness: ReturnType<typeof harnessWith>, nodeName: string): Pod =>
    harness.pod({ name: `owner-of-${nodeName}`, cpu: 1, nominatedNodeName: nodeName });

  it('does not run again for an identical pod until the node or its owners change', () => {
    const calls: string[] = [];
    const harness = harnessWith(logging(calls));
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 4 });
    for (const name of ['a', 'b']) reserve(harness, name);
    const plan = (priority = 0): string[] => {
      calls.length = 0;
      dryRun(harness, [harness.pod({ cpu: 1, priority })]);
      return calls.splice(0);
    };
    expect(plan()).toEqual(['a 0', 'b 0', 'c 0', 'a 1', 'b 1']);
    expect(plan()).toEqual([]);
    reserve(harness, 'c');
    expect(plan()).toEqual(['c 0', 'c 1']);
    // A pod of a higher priority respects none of them.
    expect(plan(1)).toEqual([]);
    expect(plan()).toEqual([]);
  });

  it('runs as if the owner were there only if the plugin, which reads other nodes, depends on the owner', () => {
    const calls: string[] = [];
    const dependsOnPod: Plugin['dependsOnPod'] = (_state, _pod, { name }) => name === 'owner-of-b';
    const harness = harnessWith(logging(calls, { readsOtherNodes: true, dependsOnPod }));
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 4 });
    for (const name of ['a', 'b']) reserve(harness, name);
    dryRun(harness, [harness.pod({ cpu: 1 })]);
    expect(calls).toEqual(['a 0', 'b 0', 'c 0', 'b 1']);
  });
});
