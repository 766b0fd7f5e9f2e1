import { describe, expect, it } from 'vitest';
import { Builders } from '../../../testkit/builders/builders.ts';
import { pluginHandle } from '../../../../test/builders/plugin-handle.ts';
import { seededRandom } from '../../../base/random.ts';
import { Cluster } from '../../../cluster/cluster.ts';
import type { Pod } from '../../../api/pod.ts';
import { Profile } from '../../../framework/profile.ts';
import { defaultPlugins, pluginRegistry } from '../../../plugins/registry.ts';
import { Planner } from './planner.ts';
import type { Plan } from './planner.ts';

interface Plane {
  readonly build: Builders;
  readonly cluster: Cluster;
  /** Where the pod would go. */
  readonly place: (pod: Pod) => string | undefined;
  /** Where all of them would go. */
  readonly plan: (members: readonly Pod[]) => Plan;
}

function plane(): Plane {
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
    const made = planner.plan({ profile, members, needed: members.length, groupState: undefined }, transaction);
    transaction.rollback();
    return made;
  };
  const place = (pod: Pod): string | undefined => plan([pod]).assignments[0]?.nodeName;
  return { build, cluster, place, plan };
}

describe('room claimed by a nominated pod', () => {
  it('is left alone by pods of equal or lower priority, used by higher ones and by the claimant', () => {
    const { build, cluster, place } = plane();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const nominated = build.projectedPod({ name: 'nominated', cpu: 1, priority: 10, nominatedNodeName: 'a' });
    cluster.setPod(nominated);
    expect(place(build.projectedPod({ name: 'equal', cpu: 1, priority: 10 }))).toBeUndefined();
    expect(place(build.projectedPod({ name: 'lower', cpu: 1, priority: 0 }))).toBeUndefined();
    expect(place(build.projectedPod({ name: 'higher', cpu: 1, priority: 11 }))).toBe('a');
    expect(place(nominated)).toBe('a');
  });

  it('is free again when the nomination is withdrawn, the pod gone, or assumed elsewhere', () => {
    const { build, cluster, place } = plane();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const nominated = { name: 'nominated', uid: 'n', cpu: 1, priority: 10 };
    const other = build.projectedPod({ name: 'other', cpu: 1 });
    cluster.setPod(build.projectedPod({ ...nominated, nominatedNodeName: 'a' }));
    expect(place(other)).toBeUndefined();
    cluster.setPod(build.projectedPod(nominated));
    expect(place(other)).toBe('a');
    cluster.setPod(build.projectedPod({ ...nominated, nominatedNodeName: 'a' }));
    expect(place(other)).toBeUndefined();
    cluster.removePod('n');
    expect(place(other)).toBe('a');
    cluster.setPod(build.projectedPod({ ...nominated, nominatedNodeName: 'a' }));
    cluster.setNode(build.projectedNode({ name: 'b', cpu: 1, taints: ['only=claimant:NoSchedule'] }));
    const transaction = cluster.begin();
    transaction.assume(cluster.pod('n')!, cluster.node('b')!);
    transaction.commit();
    expect(place(other)).toBe('a');
  });
});

describe('room claimed to repair a gang', () => {
  it('is kept from everybody but the claimant and its siblings, whatever their priority, until it is released', () => {
    const { build, cluster, place } = plane();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const owner = build.projectedPod({ name: 'claimant', cpu: 1 });
    cluster.setPod(owner);
    cluster.reservation({ kind: 'repair', owner, nodeName: 'a', isKept: true });
    const rival = build.projectedPod({ name: 'rival', cpu: 1, priority: 1000 });
    expect(place(rival)).toBeUndefined();
    expect(place(owner)).toBe('a');
    // An update of the claimant that nominates no node leaves the claim alone.
    cluster.setPod({ ...owner, resourceVersion: '2' });
    expect(place(rival)).toBeUndefined();
    expect(cluster.endReservation(owner.uid)).toBe(true);
    expect(place(rival)).toBe('a');
  });
});

describe('members of a gang that differ in nothing but priority', () => {
  it('respect room that is kept for others each by its own', () => {
    const { build, cluster, plan } = plane();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 3 }));
    cluster.setPod(build.projectedPod({ name: 'nominated', cpu: 2, priority: 5, nominatedNodeName: 'a' }));
    const member = (name: string, priority: number): Pod => build.projectedPod({ name, cpu: 1, priority });
    const [high, higher, low] = [member('high', 10), member('higher', 11), member('low', 0)];
    const { assignments, blocked } = plan([high, low]);
    expect(assignments.map(({ pod }) => pod.name)).toEqual(['high']);
    expect(blocked!.pod.name).toBe('low');
    // One place is nobody's; those of higher priority may have the others.
    expect(plan([low, high, higher]).assignments).toHaveLength(3);
    expect(plan([low, member('second', 0)]).assignments).toHaveLength(1);
  });

  it('are alike where nobody keeps room', () => {
    const { build, cluster, plan } = plane();
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 1 }));
    const members = [10, 0].map((priority) => build.projectedPod({ cpu: 1, priority }));
    expect(plan(members).isExhaustive).toBe(true);
  });
});
