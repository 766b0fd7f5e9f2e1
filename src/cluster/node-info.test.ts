import type { Pod } from '../api/pod.ts';
import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { cpuId, podsId } from '../api/resource-names.ts';
import type { NodeInfo } from './node-info.ts';

/** Each pod's uid is its name. */
function nodeWith(...pods: readonly PodOptions[]): NodeInfo {
  return new Builders().nodeInfo(
    { name: 'a', cpu: 8 },
    pods.map((pod) => ({ uid: pod.name ?? '', ...pod })),
  );
}

/** Returns everything that the node exposes about its pods. */
function contentsOf(node: NodeInfo): unknown {
  const { requested, nonZeroMilliCpu, nonZeroMemory, pods, hostPorts } = node;
  return {
    requested: requested.entries(),
    nonZeroMilliCpu,
    nonZeroMemory,
    pods: [...pods.keys()],
    hostPorts: [...hostPorts],
  };
}

const three: readonly PodOptions[] = [
  { name: 'x', cpu: 1, hostPorts: [80] },
  { name: 'y', cpu: 2, hostPorts: [81, 82] },
  { name: 'z', hostPorts: [83] },
];

function podsOf(node: NodeInfo, ...uids: string[]): Pod[] {
  return uids.map((uid) => node.pods.get(uid)!);
}

describe('pods removed from a node', () => {
  it('leave it as if they had never been on it', () => {
    const node = nodeWith(...three);
    node.takeOff(podsOf(node, 'x', 'z'));
    expect(contentsOf(node)).toEqual(contentsOf(nodeWith(three[1]!)));
    expect([node.free(cpuId), node.free(podsId)]).toEqual([6000, 109]);
  });

  it('return with all contents, in the same order', () => {
    const node = nodeWith(...three);
    const before = contentsOf(node);
    const { before: held, pods } = node.takeOff(podsOf(node, 'x'));
    node.restore(held, { came: pods });
    expect(contentsOf(node)).toEqual(before);
    expect([...node.pods.keys()]).toEqual(['x', 'y', 'z']);
  });

  it('return whatever was added to the node in the meantime', () => {
    const node = nodeWith(...three);
    const before = contentsOf(node);
    const { before: held, pods } = node.takeOff(podsOf(node, 'x', 'y', 'z'));
    node.addPod(new Builders().projectedPod({ name: 'guest', cpu: 8, hostPorts: [80] }));
    expect([...node.pods.values()].map(({ name }) => name)).toEqual(['guest']);
    node.restore(held, { came: pods });
    expect(contentsOf(node)).toEqual(before);
  });

  it('can be removed and restored step by step', () => {
    const node = nodeWith(...three);
    const whole = contentsOf(node);
    const first = node.takeOff(podsOf(node, 'y'));
    const withoutY = contentsOf(node);
    const second = node.takeOff(podsOf(node, 'x'));
    expect([...node.pods.keys()]).toEqual(['z']);
    node.restore(second.before, { came: second.pods });
    expect(contentsOf(node)).toEqual(withoutY);
    node.restore(first.before, { came: first.pods });
    expect(contentsOf(node)).toEqual(whole);
  });

  it('change neither the node itself nor its reservations', () => {
    const node = nodeWith(...three);
    const owner = new Builders().projectedPod({ name: 'owner' });
    node.reservations.set(owner.uid, { kind: 'repair', owner, nodeName: 'a' });
    const { node: object, allocatable, generation } = node;
    node.takeOff(podsOf(node, 'x', 'y', 'z'));
    expect([node.node, node.allocatable, node.generation]).toEqual([object, allocatable, generation]);
    expect([...node.reservations.keys()]).toEqual([owner.uid]);
  });
});
