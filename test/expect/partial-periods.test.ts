import { describe, expect, it } from 'vitest';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { partialSeconds, partialPeriods } from './partial-periods.ts';
import type { Change } from './recording.ts';
import type { WatchedPod } from './watched.ts';

/** A change of a member at that time, bound or not. */
function shown(at: number, name: string, nodeName?: string, type: Change<WatchedPod>['type'] = 'MODIFIED') {
  const [group] = name.split('-');
  const metadata = { name, namespace: 'ours', uid: name, resourceVersion: '1', labels: { [podGroupLabel]: group! } };
  return { at, type, object: { metadata, spec: { nodeName } } } as unknown as Change<WatchedPod>;
}

/** The same for a member of a PodGroup of `scheduling.k8s.io`. */
function shownNative(at: number, name: string, nodeName?: string): Change<WatchedPod> {
  const [podGroupName] = name.split('-');
  const metadata = { name, namespace: 'ours', uid: name, resourceVersion: '1' };
  const spec = { nodeName, schedulingGroup: { podGroupName } };
  return { at, type: 'MODIFIED', object: { metadata, spec } } as unknown as Change<WatchedPod>;
}

const rules = { namespace: 'ours', minMember: 2, until: 10_000 };

describe('partialPeriods', () => {
  it('begins with the first bound member and ends with the last one of the quorum', () => {
    const changes = [
      shown(0, 'red-0'),
      shown(1_000, 'red-0', 'a'),
      shown(1_500, 'red-0', 'a'),
      shown(3_000, 'red-1', 'b'),
    ];
    expect(partialPeriods(changes, rules)).toEqual([{ group: 'ours/red', from: 1_000, to: 3_000, most: 1 }]);
  });

  it('also ends when no member is bound any more, and may begin again', () => {
    const changes = [
      shown(1_000, 'red-0', 'a'),
      shown(2_000, 'red-0', 'a', 'DELETED'),
      shown(4_000, 'red-1', 'a'),
      shown(5_000, 'red-2', 'a'),
    ];
    expect(partialSeconds(partialPeriods(changes, rules))).toBe(2);
  });

  it('lasts until the given end, and partialSeconds adds up all groups', () => {
    const changes = [shown(1_000, 'red-0', 'a'), shown(8_000, 'blue-0', 'a'), shown(11_000, 'blue-1', 'a')];
    expect(partialSeconds(partialPeriods(changes, rules))).toBe(9 + 2);
  });

  it('tells groups of one name in the two APIs apart', () => {
    const changes = [shown(1_000, 'red-0', 'a'), shownNative(2_000, 'red-1', 'a'), shownNative(5_000, 'red-2', 'a')];
    expect(partialPeriods(changes, rules)).toEqual([
      { group: 'scheduling.k8s.io/ours/red', from: 2_000, to: 5_000, most: 1 },
      { group: 'ours/red', from: 1_000, to: 10_000, most: 1 },
    ]);
  });

  it('ignores groups of other namespaces', () => {
    expect(partialPeriods([shown(1_000, 'red-0', 'a')], { ...rules, namespace: 'theirs' })).toEqual([]);
  });
});
