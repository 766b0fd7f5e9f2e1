import { describe, expect, it } from 'vitest';
import { TurnRecord } from './turn-record.ts';
import { TurnChecker } from './turns.ts';
import { calmEvidence } from './written-record.ts';

/** A node of two CPUs, of which `old` uses one until second 60. Pod `big` needs both and has the turn since second 10. */
class Story {
  readonly found: string[] = [];
  readonly store = new TurnRecord();
  readonly checker: TurnChecker;
  readonly started = new Set<string>();
  #seen = 0;

  constructor(areZonesPools = false) {
    const evidence = calmEvidence({
      record: this.store.record,
      now: () => this.store.at!,
      started: this.started,
      violated: (invariant, what) => this.found.push(`${invariant} ${what}`),
      excused: (reason) => this.found.push(reason),
    });
    this.checker = new TurnChecker(evidence, {
      obstacles: { areZonesPools },
      schedulerNames: ['tutti'],
      drainAfterMs: 10_000,
      bindingMs: 1_000,
      epochMs: 0,
      calmFrom: () => 0,
      isUnclear: () => undefined,
    });
    this.at(0, ({ store }) => {
      store.node('n', 2_000);
      store.pod('old', { milliCpu: 1_000, node: 'n', runtime: '60s' });
      store.pod('big', { milliCpu: 2_000 });
    });
    this.at(10, ({ store }) => store.pod('big', { milliCpu: 2_000, start: 60_000 }));
  }

  /** Makes changes at this second. */
  at(second: number, act: (story: this) => void): void {
    this.store.at = second * 1_000;
    act(this);
    for (const change of this.store.record.changes.slice(this.#seen)) this.checker.committed(change);
    this.#seen = this.store.record.changes.length;
  }

  /** Pod `small` is created, and bound a second later. */
  small(second: number, runtime?: string, priority = 0): void {
    const pod = { milliCpu: 500, priority, ...(runtime !== undefined && { runtime }) };
    this.at(second, ({ store }) => store.pod('small', pod));
    this.store.by = 'scheduler-1';
    this.at(second + 1, ({ store }) => store.pod('small', { ...pod, node: 'n' }));
    this.store.by = 'world';
  }

  /** Something happens that concerns no turn. */
  goesOn(second: number): void {
    this.at(second, ({ store }) => store.pod('other', { milliCpu: 500 }));
  }

  settled(second: number): number | undefined {
    this.store.at = second * 1_000;
    return this.checker.settled();
  }
}

describe('TurnChecker', () => {
  it.each([
    ['nothing', 'no end', undefined],
    ['a later end', 'to end in 50 s', '50s'],
  ])(
    'reports a pod that declares %s and is bound where the entity with the turn needs the capacity',
    (_, what, runtime) => {
      const story = new Story();
      story.small(20, runtime);
      story.goesOn(23);
      expect(story.found).toEqual([`I5 small, which declares ${what}, is bound to n, which default/big needs before`]);
    },
  );

  it('accepts a pod that declares to end before, one of a higher priority, and one just after the turn was given', () => {
    for (const start of [
      (story: Story) => story.small(20, '38s'),
      (story: Story) => story.small(20, undefined, 10),
      (story: Story) => story.small(9.5),
    ]) {
      const story = new Story();
      start(story);
      story.goesOn(30);
      expect(story.found).toEqual([]);
    }
  });

  it('accepts a pod that the prediction allows which is written just after it was bound', () => {
    const found = [21.5, 23].map((second) => {
      const story = new Story();
      story.small(20, '50s');
      story.at(second, ({ store }) => store.pod('big', { milliCpu: 2_000, start: 72_000 }));
      story.goesOn(25);
      return story.found;
    });
    const what = 'I5 small, which declares to end in 50 s, is bound to n, which default/big needs before';
    expect(found).toEqual([[], [what]]);
  });

  it('reports a pod if the entity with the turn starts just after it', () => {
    const story = new Story();
    story.small(20);
    story.at(21.5, ({ store }) => store.pod('big', { milliCpu: 2_000, node: 'n' }));
    expect(story.found).toHaveLength(1);
  });

  it('accepts a pod if the turn is withdrawn just after it, but only if something has delayed the entity', () => {
    const found = [10, 0].map((priority) => {
      const story = new Story();
      const other = { milliCpu: 100, priority, runtime: '10s' };
      story.at(11, ({ store }) => store.pod('other', other));
      story.store.by = 'scheduler-1';
      story.at(12, ({ store }) => store.pod('other', { ...other, node: 'n' }));
      story.store.by = 'world';
      story.small(20);
      story.at(21.5, ({ store }) => store.pod('big', { milliCpu: 2_000 }));
      return story.found;
    });
    expect(found).toEqual([
      ['a pod was bound where a turn is shown: a higher priority was bound, and the turn was withdrawn'],
      ['I5 small, which declares no end, is bound to n, which default/big needs before'],
    ]);
  });

  it('accepts any pod on a node that the entity does not need', () => {
    const story = new Story();
    story.at(11, ({ store }) => store.node('m', 2_000));
    story.small(20);
    story.goesOn(23);
    expect(story.found).toEqual([]);
  });

  it('reports an entity that has not started 45 seconds after the last declared end', () => {
    const story = new Story();
    story.at(60, ({ store }) => store.ends('old'));
    expect(story.settled(100)).toBe(105_001);
    expect(story.found).toEqual([]);
    story.settled(106);
    expect(story.found).toEqual([
      'I5 default/big, whose turn (Declared) it is since 10000, must start by 105000, and does not',
    ]);
  });

  it('counts the start of an entity for each turn that it had before', () => {
    const story = new Story();
    story.at(20, ({ store }) => store.pod('big', { milliCpu: 2_000 }));
    story.at(30, ({ store }) => store.pod('big', { milliCpu: 2_000, start: 60_000 }));
    story.store.by = 'scheduler-1';
    story.at(60, ({ store }) => {
      store.ends('old');
      store.pod('big', { milliCpu: 2_000, node: 'n' });
    });
    story.settled(106);
    expect(story.found).toEqual([]);
  });

  it.each([
    ['accepts', 'starts', true, []],
    [
      'reports',
      'does not start',
      false,
      ['I5 group tenant/red, whose turn (Declared) it is since 20000, must start by 105000, and does not'],
    ],
  ])('%s a group of another namespace that %s', (_, _what, starts, found) => {
    const story = new Story(true);
    const member = { namespace: 'tenant', milliCpu: 2_000, group: 'red', zone: 'b' };
    story.at(11, ({ store }) => {
      store.node('m', 2_000, 'b');
      store.group('red', 1, 'tenant');
      store.pod('r0', member);
    });
    story.at(20, ({ store }) => store.pod('r0', { ...member, start: 60_000 }));
    story.store.by = 'scheduler-1';
    story.at(60, ({ store }) => {
      store.ends('old');
      store.pod('big', { milliCpu: 2_000, node: 'n' });
      if (starts) store.pod('r0', { ...member, node: 'm' });
    });
    story.settled(106);
    expect(story.found).toEqual(found);
  });

  it('accepts a late start after an overrun, and waits for its end', () => {
    const story = new Story();
    story.settled(110);
    story.at(200, ({ store }) => store.ends('old'));
    story.store.by = 'scheduler-1';
    story.at(201, ({ store }) => store.pod('big', { milliCpu: 2_000, node: 'n' }));
    story.settled(300);
    expect(story.found).toEqual([]);
  });

  it('excuses a late start if a higher priority was bound before', () => {
    const story = new Story();
    story.small(20, undefined, 10);
    story.at(60, ({ store }) => store.ends('old'));
    story.settled(110);
    expect(story.found).toEqual(['a turn came late: a higher priority was bound']);
  });

  it('excuses a late start if one that was ahead was bound, which had no turn', () => {
    const story = new Story();
    story.at(11, ({ store }) => store.pod('big', { milliCpu: 2_000 }));
    story.at(20, ({ store }) => store.pod('late', { milliCpu: 1_000 }));
    story.at(30, ({ store }) => store.pod('late', { milliCpu: 1_000, start: 60_000 }));
    story.store.by = 'scheduler-1';
    story.at(60, ({ store }) => {
      store.ends('old');
      store.pod('big', { milliCpu: 2_000, node: 'n' });
    });
    story.settled(110);
    expect(story.found).toEqual(['a turn came late: one that was ahead of it has started']);
  });

  it('reports two entities with turns in one pool, but not before the former one can have been rewritten', () => {
    const story = new Story();
    story.at(20, ({ store }) => store.pod('other', { milliCpu: 2_000, start: 60_000 }));
    story.at(39, ({ store }) => store.pod('late', { milliCpu: 500 }));
    expect(story.found).toEqual([]);
    story.at(41, ({ store }) => store.pod('later', { milliCpu: 500 }));
    expect(story.found).toEqual(['I5 default/big and default/other have turns in 1 pools at the same time']);
  });

  it('accepts as many turns as there are pools', () => {
    const story = new Story(true);
    story.at(15, ({ store }) => store.node('m', 2_000, 'b'));
    story.at(20, ({ store }) => store.pod('other', { milliCpu: 2_000, start: 60_000 }));
    story.at(60, ({ store }) => store.pod('late', { milliCpu: 500 }));
    expect(story.found).toEqual([]);
  });

  it('reports a turn of an entity that fits on no empty nodes', () => {
    const story = new Story();
    story.at(20, ({ store }) => store.pod('huge', { milliCpu: 3_000, start: 'draining' }));
    story.settled(30);
    expect(story.found).toEqual(['I5 default/huge has a turn, but fits on no empty nodes']);
  });

  it('counts members that have succeeded once their group has started', () => {
    const found = [true, false].map((isStarted) => {
      const story = new Story();
      if (isStarted) story.started.add('red');
      story.at(20, ({ store }) => {
        store.group('red', 2);
        store.pod('r0', { milliCpu: 500, node: 'n', group: 'red' });
        store.ends('r0');
        store.pod('r1', { milliCpu: 2_000, group: 'red', start: 'draining' });
      });
      story.settled(30);
      return story.found;
    });
    expect(found).toEqual([[], ['I5 group red has a turn, but fits on no empty nodes']]);
  });

  it('accepts turns of members beyond the quorum that do not fit together', () => {
    const story = new Story(true);
    story.at(20, ({ store }) => {
      store.node('m', 2_000, 'b');
      store.group('red', 1);
      store.pod('r0', { milliCpu: 0, node: 'n', group: 'red' });
      for (const name of ['r1', 'r2']) store.pod(name, { milliCpu: 2_000, group: 'red', start: 'draining' });
    });
    story.settled(30);
    expect(story.found).toEqual([]);
  });

  it('reports a turn of an entity behind one that asks for the same', () => {
    const story = new Story();
    story.at(20, ({ store }) => store.pod('urgent', { milliCpu: 2_000, priority: 10 }));
    story.settled(60);
    expect(story.found).toEqual([]);
    story.settled(80);
    expect(story.found).toEqual(['I5 default/big has a turn, but default/urgent asks for the same and is ahead']);
  });
});
