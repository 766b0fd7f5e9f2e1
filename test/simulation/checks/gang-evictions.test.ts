import { describe, expect, it } from 'vitest';
import type { Call } from '../world/call.ts';
import { ReleaseChecker } from './gang-evictions.ts';
import { viewAt } from './plain-group.ts';
import { calmEvidence, memberOf, nativeMemberOf, nodeFor, WrittenRecord } from './written-record.ts';

const noResponse = 'no response';
const groups = 'podgroups.scheduling.x-k8s.io';
const nativeGroups = 'podgroups.scheduling.k8s.io';

/** A group of two with one bound member, and the findings when a scheduler evicts it. */
class Story {
  readonly store = new WrittenRecord();
  readonly violations: string[] = [];
  readonly excuses: string[] = [];
  readonly #started = new Set<string>();
  readonly #checker = new ReleaseChecker(
    calmEvidence({
      record: this.store.record,
      now: () => this.#now,
      started: this.#started,
      violated: (_invariant, what) => this.violations.push(what),
      excused: (reason) => this.excuses.push(reason),
    }),
    { wereNativeGroupsHidden: (from, to) => this.#hidden.some(([at, end]) => at <= to! && end >= from!) },
  );
  /** When the API server does not serve the PodGroups of Kubernetes itself. */
  readonly #hidden: (readonly [number, number])[] = [];
  readonly #memberOf: typeof memberOf;
  readonly #stops: (readonly [number, number])[] = [];
  readonly #controller = {
    role: 'controller',
    wasStopped: (from: number, to: number): boolean => this.#stops.some(([at, end]) => at <= to && end >= from),
  };
  #now = 0;
  #committed = 0;

  constructor({ pods = 1, isControlled = true, isNative = false } = {}) {
    const { store } = this;
    this.#memberOf = isNative ? nativeMemberOf : memberOf;
    store.add('nodes', '/a', nodeFor(pods));
    const metadata = { name: 'red', uid: 'red' };
    if (isNative)
      store.add(nativeGroups, 'default/red', { metadata, spec: { schedulingPolicy: { gang: { minCount: 2 } } } });
    else store.add(groups, 'default/red', { metadata, spec: { minMember: 2 } });
    const bound: any = this.#memberOf('red', { name: 'r0', node: 'a' });
    const ownerReferences = isControlled ? [{ controller: true }] : [];
    store.add('pods', 'default/r0', { ...bound, metadata: { ...bound.metadata, ownerReferences } });
    store.add('pods', 'default/r1', this.#memberOf('red', { name: 'r1' }));
  }

  /** Nodes are drained for another pod of this priority. */
  giveTurn(priority: number): void {
    const big: any = memberOf('red', { name: 'big' });
    const turn = { type: 'tutti.dev/PredictedStart', status: 'True', reason: 'Draining', message: '' };
    this.store.add('pods', 'default/big', {
      ...big,
      metadata: { ...big.metadata, labels: {} },
      spec: { ...big.spec, priority },
      status: { conditions: [...big.status.conditions, turn] },
    });
  }

  /** The quorum is bound for a second, and then the other member is gone. Returns the version at which it is bound. */
  start(): number {
    const { store } = this;
    this.#started.add('red');
    store.change('pods', 'default/r1', this.#memberOf('red', { name: 'r1', node: 'a' }));
    this.#commit();
    const { version } = store;
    store.at = version + 1_000;
    store.remove('pods', 'default/r1');
    this.#commit();
    return version;
  }

  /** Reports all changes that the checker does not know yet. */
  #commit(): void {
    for (const change of this.store.record.changes.slice(this.#committed)) {
      this.#now = change.at;
      this.#checker.committed({ ...change, by: 'world' });
      this.#committed++;
    }
  }

  /** A process sends a Binding to node a, which does not succeed. */
  failToBind(uid: string, at: number): void {
    this.#now = at;
    const body = JSON.stringify({ metadata: { uid }, target: { name: 'a' } });
    this.#checker.sent({ process: { role: 'scheduler' }, of: 'bind', request: { body } } as unknown as Call);
  }

  /** The scheduler begins to preempt for `high`: it sends a mark. */
  preempt(at: number): void {
    this.#now = at;
    const message = 'tutti: preempting to accommodate a higher priority pod (default/high)';
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message };
    this.#scheduler('mark', 'low', { metadata: { uid: 'low' }, status: { conditions: [condition] } });
  }

  /** The scheduler nominates `high` for node a. */
  nominate(): void {
    this.#scheduler('verdict', 'high', { status: { nominatedNodeName: 'a' } });
  }

  #scheduler(of: Call['of'], pod: string, body: object): void {
    const path = `/api/v1/namespaces/default/pods/${pod}/status`;
    const request = { method: 'PATCH', path, body: JSON.stringify(body) };
    this.#checker.sent({ process: { name: 'one', role: 'scheduler' }, of, request, received: [] } as unknown as Call);
  }

  /** The API server does not serve the PodGroups of Kubernetes itself from one time to another. */
  hideNativeGroups(from: number, to: number): void {
    this.#hidden.push([from, to]);
  }

  /** The controller is paused from one time to another. */
  pauseController(from: number, to: number): void {
    this.#stops.push([from, to]);
  }

  /** The controller writes the Lease. */
  lead(at: number): void {
    this.#commit();
    this.#now = at;
    this.#checker.sent({
      process: this.#controller,
      of: 'lease',
      request: { method: 'PUT' },
      received: [],
    } as unknown as Call);
  }

  /**
   * A process that had received everything up to that version evicts the bound member. `received`: the versions that each process received.
   * `response`: the status of the response to the controller's call.
   */
  evict(
    seen = this.store.version,
    received: { scheduler?: number[]; controller?: number[] } = {},
    response: number | typeof noResponse = 500,
  ): readonly string[] {
    this.#commit();
    this.#now = 100_000;
    const { scheduler = [], controller = [] } = received;
    this.#checker.sent({
      process: this.#controller,
      of: 'status',
      request: { path: '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/red/status' },
      status: response === noResponse ? undefined : response,
      received: controller.map(viewAt),
    } as unknown as Call);
    this.#checker.sent({
      process: { name: 'one', role: 'scheduler' },
      of: 'evict',
      request: { path: '/api/v1/namespaces/default/pods/r0/eviction' },
      begun: { at: 0, seen: viewAt(seen) },
      views: [viewAt(seen)],
      received: [...scheduler, seen].map(viewAt),
    } as unknown as Call);
    return this.violations;
  }
}

describe('ReleaseChecker', () => {
  it('accepts the eviction of a group that the scheduler cannot complete', () => {
    expect(new Story().evict()).toEqual([]);
  });

  it('reports the eviction of a group whose missing member fits', () => {
    expect(new Story({ pods: 2 }).evict()).toEqual([
      'one evicts default/r0 of group red, although its missing members fit',
    ]);
  });

  it('accepts the eviction of a group whose missing member fits only where an entity ahead needs the capacity', () => {
    const found = [
      { pods: 2, priority: 0 },
      { pods: 3, priority: 0 },
      { pods: 2, priority: -1 },
    ].map(({ pods, priority }) => {
      const story = new Story({ pods });
      story.giveTurn(priority);
      return story.evict();
    });
    const what = 'one evicts default/r0 of group red, although its missing members fit';
    expect(found).toEqual([[], [what], [what]]);
  });

  it.each([
    ['accepts', 'the nominations may not have been sent yet', 99_000, false, []],
    ['reports', 'they were', 99_000, true, ['one evicts default/r0 of group red, although its missing members fit']],
    [
      'reports',
      'they are late',
      80_000,
      false,
      ['one evicts default/r0 of group red, although its missing members fit'],
    ],
  ] as const)('%s the eviction if a preemption has begun and %s', (_what, _when, at, isNominated, found) => {
    const story = new Story({ pods: 3 });
    story.store.add('pods', 'default/high', memberOf('none', { name: 'high' }));
    story.preempt(at);
    if (isNominated) story.nominate();
    expect(story.evict()).toEqual(found);
  });

  it.each([
    ['accepts', 30_000, []],
    ['reports', 50_000, ['one evicts default/r0 of group native:red, although its missing members fit']],
  ] as const)('%s the eviction if the PodGroup was served again %i ms ago', (_what, ms, found) => {
    const story = new Story({ pods: 2, isNative: true });
    story.hideNativeGroups(0, 100_000 - ms);
    expect(story.evict()).toEqual(found);
  });

  it('accepts the eviction of a group whose waiting members name different schedulers', () => {
    const story = new Story({ pods: 2 });
    const member: any = memberOf('red', { name: 'r2' });
    story.store.add('pods', 'default/r2', { ...member, spec: { ...member.spec, schedulerName: 'tutti-packing' } });
    expect(story.evict()).toEqual([]);
  });

  it.each([
    ['accepts', 20, []],
    ['reports', 40, ['one evicts default/r0 of group red, although its missing members fit']],
  ] as const)('%s the eviction if the Binding of a member of another such group failed %i s ago', (_what, s, found) => {
    const story = new Story({ pods: 3 });
    story.store.add(groups, 'default/blue', { metadata: { name: 'blue', uid: 'blue' }, spec: { minMember: 2 } });
    story.store.add('pods', 'default/b0', memberOf('blue', { name: 'b0', node: 'a' }));
    story.store.add('pods', 'default/b1', memberOf('blue', { name: 'b1' }));
    story.failToBind('b1', 100_000 - s * 1_000);
    expect(story.evict()).toEqual(found);
  });

  it('judges by what the sender had received', () => {
    const [before, after] = [new Story(), new Story()];
    const seen = before.store.version;
    for (const { store } of [before, after]) store.change('nodes', '/a', nodeFor(2));
    expect(before.evict(seen)).toEqual([]);
    expect(after.evict()).toHaveLength(1);
  });

  it('reports the eviction of a pod that no controller recreates', () => {
    expect(new Story({ isControlled: false }).evict()).toEqual([
      'one evicts default/r0 of group red, which no controller recreates',
    ]);
  });

  it('excuses the eviction of a group that has started only if lists skipped its start for the sender and all controllers', () => {
    const story = new Story();
    story.start();
    expect(story.evict()).toEqual([]);
    expect(new Set(story.excuses)).toEqual(
      new Set([
        'a group is released: lists skipped the bound quorum before any process recorded that the group started',
      ]),
    );
    for (const role of ['scheduler', 'controller']) {
      const known = new Story();
      const version = known.start();
      const received = { [role]: [version] };
      expect(known.evict(undefined, received)).toEqual(['one evicts default/r0 of group red, which has started']);
    }
  });

  it.each([
    ['reports', 1, ['one evicts default/r0 of group red, which has started']],
    ['excuses', 50_000, []],
  ] as const)('%s the eviction of a group that has started if a controller leads from %i ms on', (_what, at, found) => {
    const story = new Story();
    const controller = [story.start()];
    story.lead(at);
    expect(story.evict(undefined, { controller })).toEqual(found);
  });

  it.each([
    ['excuses', 'while its quorum was bound', [0, 5_000], []],
    ['reports', 'only at first', [0, 100], ['one evicts default/r0 of group red, which has started']],
  ] as const)(
    '%s the eviction of a group that has started if the controller was paused %s',
    (_what, _when, pause, found) => {
      const story = new Story();
      story.pauseController(pause[0], pause[1]);
      const controller = [story.start()];
      expect(story.evict(undefined, { controller })).toEqual(found);
    },
  );

  it.each([
    ['excuses', 'while its quorum was bound', [0, 5_000], []],
    ['reports', 'only at first', [0, 100], ['one evicts default/r0 of group native:red, which has started']],
    ['reports', 'only later', [900, 5_000], ['one evicts default/r0 of group native:red, which has started']],
  ] as const)(
    '%s the eviction of a group that has started if the API server did not serve PodGroups %s',
    (_what, _when, hidden, found) => {
      const story = new Story({ isNative: true });
      story.hideNativeGroups(hidden[0], hidden[1]);
      const controller = [story.start()];
      expect(story.evict(undefined, { controller })).toEqual(found);
    },
  );

  it('excuses the eviction of a group that has started while the API server does not respond to the controller', () => {
    const story = new Story();
    const controller = [story.start()];
    expect(story.evict(undefined, { controller }, noResponse)).toEqual([]);
    expect(new Set(story.excuses)).toEqual(
      new Set([
        'a group is released: a status call has no response before any process recorded that the group started',
      ]),
    );
  });
});
