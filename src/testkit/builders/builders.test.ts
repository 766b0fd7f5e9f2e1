import { describe, expect, it } from 'vitest';
import { podsId } from '../../api/resource-names.ts';
import { Builders } from './builders.ts';

describe('Builders', () => {
  it('gives objects identities in the order of creation', () => {
    const build = new Builders();
    const [first, second] = [build.pod(), build.podGroup()];
    expect(first.metadata.uid < second.metadata.uid).toBe(true);
    expect(first.metadata.creationTimestamp).toBe('2026-01-01T00:00:01Z');
    expect(second.metadata.creationTimestamp).toBe('2026-01-01T00:00:02Z');
    expect(new Builders().pod().metadata.uid).toBe(first.metadata.uid);
  });

  it('builds identical members of a group that share one template', () => {
    const members = new Builders().projectedPods(2, { group: 'red', cpu: '1', memory: '1Gi' });
    expect(members.map(({ key }) => key)).toEqual(['default/red-0', 'default/red-1']);
    expect(members.map(({ podGroupKey }) => podGroupKey)).toEqual(['default/red', 'default/red']);
    expect(members[0]!.template).toBe(members[1]!.template);
    expect(members[0]!.uid).not.toBe(members[1]!.uid);
  });

  it('builds nodes with amounts and taints', () => {
    const build = new Builders();
    const node = build.nodeInfo({ cpu: '1500m', pods: 3, taints: ['a=b:NoSchedule', 'c:NoExecute'] }, [{ cpu: 1 }]);
    expect([node.free(0), node.free(podsId)]).toEqual([500, 2]);
    expect(node.node.taints).toEqual([
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', value: '', effect: 'NoExecute' },
    ]);
    expect(() => build.node({ taints: ['a:Never'] })).toThrow('"a:Never" is not a taint');
  });

  it('builds valid pod groups', () => {
    const group = new Builders().projectedPodGroup({ name: 'red', minMember: 3, minResources: { cpu: '3' } });
    expect(group).toMatchObject({ key: 'default/red', minMember: 3 });
    expect([...group.minResources!.keys()]).toEqual(['cpu']);
  });
});
