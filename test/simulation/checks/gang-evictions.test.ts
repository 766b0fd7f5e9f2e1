import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { ReleaseChecker } from './gang-evictions.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

const groups = 'podgroups.scheduling.x-k8s.io';

/** A group of two with one bound member, and the findings when a scheduler evicts it. */
class Story {
  readonly store = new WrittenRecord();
  readonly violations: string[] = [];

  constructor({ pods = 1, isControlled = true } = {}) {
    const { store } = this;
    store.add('nodes', '/a', nodeFor(pods));
    store.add(groups, 'default/red', { metadata: { name: 'red', uid: 'red' }, spec: { minMember: 2 } });
    const bound: any = memberOf('red', { name: 'r0', node: 'a' });
    const ownerReferences = isControlled ? [{ controller: true }] : [];
    store.add('pods', 'default/r0', { ...bound, metadata: { ...bound.metadata, ownerReferences } });
    store.add('pods', 'default/r1', memberOf('red', { name: 'r1' }));
  }

  /** A process that had received everything up to that version evicts the bound member. */
  evict(seen = this.store.version): readonly string[] {
    const checker = new ReleaseChecker(
      calmEvidence({
        record: this.store.record,
        now: () => 100_000,
        violated: (_invariant, what) => this.violations.push(what),
      }),
    );
    for (const change of this.store.record.changes) checker.committed({ ...change, by: 'world' });
    const view = { pods: seen, nodes: seen, podgroups: seen };
    checker.sent({
      process: { name: 'one', role: 'scheduler' },
      of: 'evict',
      request: { path: '/api/v1/namespaces/default/pods/r0/eviction' },
      begun: { at: 0, seen: view },
      views: [view],
    } as unknown as Call);
    return this.violations;
  }
}

describe('ReleaseChecker', () => {
  it('accepts the eviction of a group that cannot be completed', () => {
    expect(new Story().evict()).toEqual([]);
  });

  it('reports the eviction of a group whose missing member fits', () => {
    expect(new Story({ pods: 2 }).evict()).toEqual([
      'one evicts default/r0 of group red, although its missing members fit',
    ]);
  });

  it('accepts the eviction of a group whose waiting members name different schedulers', () => {
    const story = new Story({ pods: 2 });
    const member: any = memberOf('red', { name: 'r2' });
    story.store.add('pods', 'default/r2', { ...member, spec: { ...member.spec, schedulerName: 'tutti-packing' } });
    expect(story.evict()).toEqual([]);
  });

  it('judges by what the sender had received', () => {
    const story = new Story();
    const seen = story.store.version;
    story.store.change('nodes', '/a', nodeFor(2));
    expect(story.evict(seen)).toEqual([]);
    expect(story.evict()).toHaveLength(1);
  });

  it('reports the eviction of a pod that no controller recreates', () => {
    expect(new Story({ isControlled: false }).evict()).toEqual([
      'one evicts default/r0 of group red, which no controller recreates',
    ]);
  });
});
