import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import { PartialGroupChecker } from './partially-bound-gangs.ts';
import { WaitingChecker } from './waiting.ts';
import { calmEvidence, memberOf, nodeFor, WrittenRecord } from './written-record.ts';

const graceMs = 60_000;

/** A node for two pods, and the findings of the checkers once the cluster has settled. */
class Story {
  readonly violations: string[] = [];
  readonly excuses: string[] = [];
  now = 1000;
  readonly #store = new WrittenRecord();
  readonly #started = new Set<string>();

  constructor() {
    this.#store.add('nodes', '/a', nodeFor(2));
  }

  add(resource: string, key: string, object: JsonObject): void {
    this.#store.add(resource, key, object);
  }

  group(name: string, minMember: number, hasStarted = false): void {
    if (hasStarted) this.#started.add(name);
    this.#store.add('podgroups.scheduling.x-k8s.io', `default/${name}`, {
      metadata: { name, uid: name },
      spec: { minMember },
    });
  }

  member(group: string, name: string, node?: string): void {
    this.#store.add('pods', `default/${name}`, memberOf(group, { name, ...(node !== undefined && { node }) }));
  }

  /** Adds a waiting pod of this priority that is nominated to node a. */
  nominated(name: string, priority: number): void {
    const pod = memberOf(name, { name }) as { spec: object; status: object };
    const spec = { ...pod.spec, schedulerName: 'another', priority };
    this.#store.add('pods', `default/${name}`, { ...pod, spec, status: { ...pod.status, nominatedNodeName: 'a' } });
  }

  remove(name: string): void {
    this.#store.remove('pods', `default/${name}`);
  }

  /** Returns when to check again. */
  settled(checked: 'partial groups' | 'waiting pods'): number | undefined {
    const evidence = calmEvidence({
      record: this.#store.record,
      now: () => this.now,
      started: this.#started,
      violated: (invariant, what) => this.violations.push(`${invariant} ${what}`),
      excused: (reason) => this.excuses.push(reason),
    });
    if (checked === 'waiting pods') {
      const terms = { schedulerNames: ['tutti'] };
      return new WaitingChecker(evidence, terms).settled();
    }
    const checker = new PartialGroupChecker(evidence);
    for (const change of this.#store.record.changes) checker.committed(change);
    return checker.settled();
  }
}

/** A started group of two that has lost one member on the node. */
function withLostMember(): Story {
  const story = new Story();
  story.group('blue', 2, true);
  for (const [name, node] of [
    ['b0', 'elsewhere'],
    ['b1', 'a'],
  ] as const) {
    story.member('blue', name);
    story.member('blue', name, node);
  }
  story.remove('b1');
  return story;
}

describe('Capacity reserved for the lost member of another group', () => {
  it('excuses a partially bound group until the reservation ends', () => {
    const story = withLostMember();
    story.group('red', 2);
    story.member('red', 'r0', 'a');
    story.member('red', 'r1');
    const again = story.settled('partial groups');
    expect([story.violations, story.excuses]).toEqual([[], ['partially bound: capacity is reserved for lost members']]);
    expect(again).toBeGreaterThan(graceMs);
    story.now = again!;
    expect(story.settled('partial groups')).toBeUndefined();
    expect(story.violations).toEqual(['I2 group red has 1 of 2 members bound, and the others fit']);
  });

  it('excuses a waiting group until the reservation ends', () => {
    const story = withLostMember();
    story.group('red', 2);
    for (const name of ['r0', 'r1']) story.member('red', name);
    const again = story.settled('waiting pods');
    expect([story.violations, story.excuses]).toEqual([[], ['waits: capacity is reserved for lost members']]);
    story.now = again!;
    expect(story.settled('waiting pods')).toBeUndefined();
    expect(story.violations).toEqual([expect.stringContaining('I10 group red waits, though 2 of its members fit')]);
  });

  it('is not an excuse when other capacity is free', () => {
    const story = withLostMember();
    story.group('red', 1);
    story.member('red', 'r0');
    expect(story.settled('waiting pods')).toBeUndefined();
    expect(story.violations).toEqual([expect.stringContaining('I5 group red waits')]);
  });

  it('is not an excuse on another node, if it can only be reserved on the node of the lost member', () => {
    const withPinned = (isLostNodeOpen: boolean): Story => {
      const story = withLostMember();
      story.add('nodes', '/b', { ...nodeFor(1, 'b'), metadata: { name: 'b', labels: { zone: 'b' } } });
      const node: any = nodeFor(2);
      if (!isLostNodeOpen) story.add('nodes', '/a', { ...node, spec: { unschedulable: true } });
      story.group('red', 1);
      const pinned: any = memberOf('red', { name: 'r0' });
      story.add('pods', 'default/r0', { ...pinned, spec: { ...pinned.spec, nodeSelector: { zone: 'b' } } });
      story.settled('waiting pods');
      return story;
    };
    expect(withPinned(true).violations).toEqual([expect.stringContaining('group red waits')]);
    const { violations, excuses } = withPinned(false);
    expect([violations, excuses]).toEqual([[], ['waits: capacity is reserved for lost members']]);
  });

  it('is not an excuse for the group that owns it', () => {
    const story = withLostMember();
    story.member('blue', 'b2');
    expect(story.settled('waiting pods')).toBeUndefined();
    expect(story.violations).toEqual([expect.stringContaining('I5 group blue waits')]);
  });
});

it.each([
  [-1, [expect.stringContaining('I5 group red waits')]],
  [0, []],
])(
  'Capacity for a nominated pod of priority %i counts for waiting pods of priority 0 as for the scheduler',
  (priority, found) => {
    const story = new Story();
    story.nominated('other', priority);
    story.group('red', 2);
    for (const name of ['r0', 'r1']) story.member('red', name);
    story.settled('waiting pods');
    expect(story.violations).toEqual(found);
  },
);
