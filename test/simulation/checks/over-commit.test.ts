import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { OverCommitChecker } from './over-commit.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

/** A node for two pods, on which one is bound, and the findings on a Binding of another. */
class Story {
  readonly store = new WrittenRecord();
  readonly violations: string[] = [];
  readonly excuses: string[] = [];

  constructor() {
    this.store.add('nodes', '/a', nodeFor(2));
    this.member('r0', 'a');
  }

  member(name: string, node?: string): void {
    this.store.add('pods', `default/${name}`, memberOf('red', { name, ...(node !== undefined && { node }) }));
  }

  /** A process that had received everything up to that version binds the pod. */
  bind(name: string, seen = this.store.version): void {
    this.member(name);
    const known = Math.max(seen, 0);
    this.member(name, 'a');
    const checker = new OverCommitChecker(
      calmEvidence({
        record: this.store.record,
        now: () => 0,
        violated: (_invariant, what) => this.violations.push(what),
        excused: (reason) => this.excuses.push(reason),
      }),
    );
    const view = { pods: known, nodes: known, podgroups: known };
    checker.done({
      process: { name: 'one', isAlive: true },
      of: 'bind',
      request: { path: '', body: JSON.stringify({ metadata: { namespace: 'default', name }, target: { name: 'a' } }) },
      views: [view],
      status: 201,
    } as unknown as Call);
  }
}

describe('OverCommitChecker', () => {
  it('reports a Binding to a node that its sender knew to be full', () => {
    const story = new Story();
    story.member('r1', 'a');
    story.bind('r2');
    expect([story.violations.length, story.excuses]).toEqual([1, []]);
  });

  it('excuses what the sender had not seen', () => {
    const story = new Story();
    const seen = story.store.version;
    story.member('r1', 'a');
    story.bind('r2', seen);
    expect([story.violations.length, story.excuses.length]).toEqual([0, 1]);
  });

  it('excuses only the part of a pod that the sender had not seen', () => {
    const story = new Story();
    story.member('r1', 'a');
    const seen = story.store.version;
    story.member('r2', 'a');
    story.bind('r3', seen);
    expect([story.violations.length, story.excuses]).toEqual([1, []]);
  });

  it('excuses a change of the node that the sender had not seen, but not if the node was too small before it', () => {
    const shrunk = new Story();
    const seen = shrunk.store.version;
    shrunk.store.change('nodes', '/a', nodeFor(1));
    shrunk.bind('r1', seen);
    expect([shrunk.violations.length, shrunk.excuses.length]).toEqual([0, 1]);
    const small = new Story();
    small.member('r1', 'a');
    const before = small.store.version;
    small.store.change('nodes', '/a', { ...nodeFor(2), metadata: { name: 'a', annotations: { beat: '1' } } });
    small.bind('r2', before);
    expect([small.violations.length, small.excuses]).toEqual([1, []]);
  });
});
