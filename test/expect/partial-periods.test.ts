import { describe, expect, it } from 'vitest';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { partialSeconds, partialPeriods } from './partial-periods.ts';
import type { Change } from './recording.ts';
import type { WatchedPod } from './watched.ts';

/** A member as it is shown at that time; on a node, or not. */
function shown(at: number, name: string, nodeName?: string, type: Change<WatchedPod>['type'] = 'MODIFIED') {
  const [group] = name.split('-');
  const metadata = { name, namespace: 'ours', uid: name, resourceVersion: '1', labels: { [podGroupLabel]: group! } };
  return { at, type, object: { metadata, spec: { nodeName } } } as unknown as Change<WatchedPod>;
}

const rules = { namespace: 'ours', minMember: 2, until: 10_000 };

describe('the time in which a group is partly on nodes', () => {
  it('begins with the first member that is on one, and ends with the last that is needed', () => {
    const changes = [
      shown(0, 'red-0'),
      shown(1_000, 'red-0', 'a'),
      shown(1_500, 'red-0', 'a'),
      shown(3_000, 'red-1', 'b'),
    ];
    expect(partialPeriods(changes, rules)).toEqual([{ group: 'red', from: 1_000, to: 3_000, most: 1 }]);
  });

  it('ends also when none is on a node any more, and may come again', () => {
    const changes = [
      shown(1_000, 'red-0', 'a'),
      shown(2_000, 'red-0', 'a', 'DELETED'),
      shown(4_000, 'red-1', 'a'),
      shown(5_000, 'red-2', 'a'),
    ];
    expect(partialSeconds(partialPeriods(changes, rules))).toBe(2);
  });

  it('goes on until one stops looking, and is added up over groups', () => {
    const changes = [shown(1_000, 'red-0', 'a'), shown(8_000, 'blue-0', 'a'), shown(11_000, 'blue-1', 'a')];
    expect(partialSeconds(partialPeriods(changes, rules))).toBe(9 + 2);
  });

  it('is nothing for groups of other namespaces', () => {
    expect(partialPeriods([shown(1_000, 'red-0', 'a')], { ...rules, namespace: 'theirs' })).toEqual([]);
  });
});
