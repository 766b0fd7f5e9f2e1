import { describe, expect, it } from 'vitest';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { defaultPlugins } from '../registry.ts';

const seconds = 1000;
const t = Date.UTC(2026, 0, 1, 12);

/**
 * Upstream compares pods by a time of each pod. Here a group is one entity, which becomes ready when its PodGroup and enough members exist.
 * If the scheduler starts with all objects present, that is the latest of their creation times. So upstream's attempt and creation times
 * are creation times here.
 */
function queueOf(groups: readonly PodGroupOptions[], pods: readonly PodOptions[]): string[] {
  const queueing = new Queueing({ plugins: defaultPlugins }, 'listing');
  for (const group of groups) queueing.group({ minMember: 1, uid: `${group.namespace}/${group.name}`, ...group });
  for (const pod of pods) queueing.pod(pod);
  queueing.start();
  return queueing.popAll();
}

const plain = (name: string, namespace: string, priority: number, after = 0): PodOptions => ({
  name,
  namespace,
  priority,
  createdAt: t + after * seconds,
});

const member = (name: string, namespace: string, group: string, priority: number, after = 0): PodOptions => ({
  ...plain(name, namespace, priority, after),
  group,
});

const group = (namespace: string, name: string, after = 0): PodGroupOptions => ({
  namespace,
  name,
  createdAt: t + after * seconds,
});

describe('the order of two entities', () => {
  it('Q1 the pod of higher priority first, also from another namespace', () => {
    expect(queueOf([], [plain('p1', 'ns1', 10), plain('p2', 'ns2', 100)])).toEqual(['pod/p2', 'pod/p1']);
  });

  it('Q2 the pod of higher priority first', () => {
    expect(queueOf([], [plain('p1', 'ns1', 100), plain('p2', 'ns2', 10)])).toEqual(['pod/p1', 'pod/p2']);
  });

  it('Q3 the older of two equal pods first', () => {
    expect(queueOf([], [plain('p1', 'ns1', 100, 1), plain('p2', 'ns2', 100, 2)])).toEqual(['pod/p1', 'pod/p2']);
  });

  it('Q4 the older of two equal pods first, with reversed arguments', () => {
    expect(queueOf([], [plain('p1', 'ns1', 100, 2), plain('p2', 'ns2', 100, 1)])).toEqual(['pod/p2', 'pod/p1']);
  });

  it('Q5 a plain pod of higher priority before a group', () => {
    const pods = [member('p1', 'ns1', 'pg1', 10), plain('p2', 'ns2', 100)];
    expect(queueOf([group('ns1', 'pg1')], pods)).toEqual(['pod/p2', 'gang/ns1/pg1']);
  });

  it('Q6 a group of higher priority before a plain pod', () => {
    const pods = [member('p1', 'ns1', 'pg1', 100), plain('p2', 'ns2', 10)];
    expect(queueOf([group('ns1', 'pg1')], pods)).toEqual(['gang/ns1/pg1', 'pod/p2']);
  });

  it('Q7 an older group before an equal plain pod', () => {
    const pods = [member('p1', 'ns1', 'pg1', 100, 1), plain('p2', 'ns2', 100, 2)];
    expect(queueOf([group('ns1', 'pg1', 1)], pods)).toEqual(['gang/ns1/pg1', 'pod/p2']);
  });

  it('Q8 an older plain pod before an equal group', () => {
    const pods = [member('p1', 'ns1', 'pg1', 100, 2), plain('p2', 'ns2', 100, 1)];
    expect(queueOf([group('ns1', 'pg1', 2)], pods)).toEqual(['pod/p2', 'gang/ns1/pg1']);
  });

  it('Q9 the group of higher priority first, although it is younger', () => {
    const pods = [member('p1', 'ns1', 'pg1', 10, 1), member('p2', 'ns2', 'pg2', 100, 2)];
    expect(queueOf([group('ns1', 'pg1', 1), group('ns2', 'pg2', 2)], pods)).toEqual(['gang/ns2/pg2', 'gang/ns1/pg1']);
  });

  it('Q10 a group before a pod that names a group of the same name in a namespace without it', () => {
    // Upstream queues the second pod and fails it at Permit; here it is gated until its PodGroup exists.
    const pods = [member('p1', 'ns1', 'pg1', 100), member('p2', 'ns2', 'pg1', 10)];
    expect(queueOf([group('ns1', 'pg1')], pods)).toEqual(['gang/ns1/pg1']);
  });

  it('Q11 the older of two equal groups first', () => {
    const pods = [member('p1', 'ns1', 'pg1', 100, 1), member('p2', 'ns2', 'pg2', 100, 2)];
    expect(queueOf([group('ns1', 'pg1', 1), group('ns2', 'pg2', 2)], pods)).toEqual(['gang/ns1/pg1', 'gang/ns2/pg2']);
  });

  it('Q12 a younger group of lower priority last', () => {
    const pods = [member('p1', 'ns', 'pg2', 10, 2), member('p2', 'ns', 'pg1', 100, 1)];
    expect(queueOf([group('ns', 'pg2', 2), group('ns', 'pg1', 1)], pods)).toEqual(['gang/ns/pg1', 'gang/ns/pg2']);
  });

  it('Q13 a pod whose group does not exist is gated, so it is not first', () => {
    // Upstream puts it first, by its own attempt time. Here it would be scheduled without its gang, so it is gated.
    const pods = [member('p1', 'ns1', 'pg2', 100, 1), member('p2', 'ns2', 'pg2', 100, 1)];
    expect(queueOf([group('ns2', 'pg2', 2)], pods)).toEqual(['gang/ns2/pg2']);
  });

  it('Q14 a plain pod before a group whose PodGroup came later', () => {
    const pods = [plain('p1', 'ns1', 100, 1), member('p2', 'ns2', 'pg2', 100, 1)];
    expect(queueOf([group('ns2', 'pg2', 2)], pods)).toEqual(['pod/p1', 'gang/ns2/pg2']);
  });

  it('Q15 a failed group lets the younger one go first, and is first again after an event that may help it', () => {
    // Upstream moves a failed group behind others by a failure time. Here it keeps its rank but leaves the active queue, so
    // that no entity waits behind it. Once an event may help, the failure has no effect anymore.
    const queueing = new Queueing({ plugins: defaultPlugins }, 'listing');
    queueing.group({ name: 'pg1', minMember: 3, createdAt: t - 10 * seconds });
    queueing.group({ name: 'pg2', minMember: 3, createdAt: t - 5 * seconds });
    queueing.members(3, { group: 'pg1', priority: 100, createdAt: t - 10 * seconds });
    queueing.members(3, { group: 'pg2', priority: 100, createdAt: t - 5 * seconds });
    queueing.start();
    expect(queueing.rejectNext('NodeUnschedulable').key).toBe('gang/default/pg1');
    expect(queueing.states()).toEqual({ 'gang/default/pg1': 'unschedulable', 'gang/default/pg2': 'active' });
    expect(queueing.rejectNext('NodeUnschedulable').key).toBe('gang/default/pg2');
    queueing.harness.clock.advance(10 * seconds);
    queueing.node({ name: 'a' });
    expect(queueing.popAll()).toEqual(['gang/default/pg1', 'gang/default/pg2']);
  });
});

describe('a group in the queue', () => {
  it('is never interleaved with another group that became ready at the same time', () => {
    const pods = ['a', 'b', 'c', 'd'].map((name, i) => member(name, 'ns', i % 2 === 0 ? 'red' : 'blue', 0));
    expect(queueOf([group('ns', 'red'), group('ns', 'blue')], pods)).toEqual(['gang/ns/blue', 'gang/ns/red']);
  });

  it('ranks by the lowest priority of its members', () => {
    const pods = [member('a', 'ns', 'red', 100), member('b', 'ns', 'red', 5), plain('c', 'ns', 10)];
    expect(queueOf([group('ns', 'red')], pods)).toEqual(['pod/c', 'gang/ns/red']);
  });
});
