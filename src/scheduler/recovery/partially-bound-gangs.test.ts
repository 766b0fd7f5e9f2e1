import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { podGroupConditions } from '../../api/pod-group.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

/** A new leader, which sees only the API's objects. */
function newLeader(): Scheduling {
  return new Scheduling({ plugins: defaultPlugins }, 'listing');
}

const started = {
  type: podGroupConditions.started,
  status: 'True',
  reason: 'QuorumBound',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;

/** Returns the entity keys in the order of their attempts. */
async function attempted(core: Scheduling): Promise<string[]> {
  const keys: string[] = [];
  for (;;) {
    const before = new Set(Object.keys(core.states()));
    if ((await core.attempt()) === undefined) return keys;
    for (const key of Object.keys(core.states())) before.delete(key);
    keys.push(...before);
  }
}

describe('a new leader', () => {
  it('completes partially bound gangs before anything else, whatever their priority', async () => {
    const core = newLeader();
    core.node({ name: 'a', cpu: 64 });
    core.pod({ name: 'urgent', cpu: 1, priority: 1_000 });
    core.group({ name: 'new', minMember: 2, createdAt: 0 });
    core.members(2, { group: 'new', cpu: 1, priority: 1_000 });
    core.group({ name: 'low', minMember: 3, createdAt: 9_000 });
    core.members(2, { group: 'low', cpu: 1, priority: -5 });
    core.pod({ name: 'low-2', group: 'low', cpu: 1, priority: -5, nodeName: 'a', phase: 'Running' });
    core.group({ name: 'mid', minMember: 2, createdAt: 9_000 });
    core.pod({ name: 'mid-0', group: 'mid', cpu: 1, priority: 5 });
    core.pod({ name: 'mid-1', group: 'mid', cpu: 1, priority: 5, nodeName: 'a' });
    core.start();
    const order = await attempted(core);
    expect(order.slice(0, 2)).toEqual(['gang/default/mid', 'gang/default/low']);
    expect(order.slice(2).sort()).toEqual(['gang/default/new', 'pod/urgent']);
    expect(core.binds.slice(0, 3).map(({ binding }) => binding.name)).toEqual(['mid-0', 'low-0', 'low-1']);
  });

  it('gives the last free capacity to a partially bound gang, not to a new one', async () => {
    const core = newLeader();
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'new', minMember: 2 });
    core.members(2, { group: 'new', cpu: 1, priority: 1_000 });
    core.group({ name: 'old', minMember: 4 });
    core.members(2, { group: 'old', cpu: 1 });
    for (const name of ['old-2', 'old-3']) core.pod({ name, group: 'old', cpu: 1, nodeName: 'a', phase: 'Running' });
    core.start();
    expect([await core.attempt(), await core.attempt()]).toEqual(['planned', 'rejected']);
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['old-0', 'old-1']);
  });

  it('does not prefer gangs that have started: they have, or had, their quorum', () => {
    const core = new Queueing({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'a', cpu: 64 });
    core.pod({ name: 'urgent', cpu: 1, priority: 1_000 });
    core.group({ name: 'started', minMember: 2, status: { conditions: [started] } });
    core.pod({ name: 'started-0', group: 'started', cpu: 1, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'started-1', group: 'started', cpu: 1 });
    core.start();
    expect(core.popAll()).toEqual(['pod/urgent', 'gang/default/started']);
  });
});

describe('a gang that becomes partially bound', () => {
  /** Two gangs and a pod that rank before gang late. Binding `late-1` makes late partially bound. */
  function running(extra: readonly Plugin[] = []): Queueing {
    const core = new Queueing({ plugins: defaultPlugins, extra });
    core.node({ name: 'a', cpu: 64 });
    for (const name of ['one', 'two']) {
      core.group({ name, minMember: 2 });
      core.members(2, { group: name, cpu: 1, priority: 10 });
    }
    core.pod({ name: 'lone', cpu: 1, priority: 10 });
    core.group({ name: 'late', minMember: 2 });
    core.members(2, { group: 'late', cpu: 1 });
    return core;
  }
  const others = ['gang/default/one', 'gang/default/two', 'pod/lone'];
  const late = 'gang/default/late';

  it('moves to the front of the active queue', () => {
    const core = running();
    core.change('late-1', { nodeName: 'a' });
    expect(core.popAll()).toEqual([late, ...others]);
  });

  it('moves back once it is no longer partially bound', () => {
    const core = running();
    core.change('late-1', { nodeName: 'a' });
    core.removePod('late-1');
    core.pod({ name: 'late-2', group: 'late', cpu: 1 });
    expect(core.popAll()).toEqual([...others, late]);
  });

  it('is activated and goes first if it was unschedulable', () => {
    const core = running();
    while (core.rejectNext('NodeResourcesFit').key !== late);
    expect(core.states()[late]).toBe('unschedulable');
    core.pod({ name: 'new', cpu: 1, priority: 1_000 });
    core.change('late-1', { nodeName: 'a' });
    expect(core.states()[late]).toBe('active');
    expect(core.popAll().slice(0, 2)).toEqual([late, 'pod/new']);
  });

  it('is activated and goes first if it is backing off after a rejection', () => {
    const core = running();
    while (core.rejectNext('NodeResourcesFit').key !== late);
    core.node({ name: 'b', cpu: 64 });
    expect(core.states()[late]).toBe('backoff');
    core.pod({ name: 'new', cpu: 1, priority: 1_000 });
    core.change('late-1', { nodeName: 'a' });
    expect(core.popAll().slice(0, 2)).toEqual([late, 'pod/new']);
  });

  it('finishes its backoff after an error, then goes first', () => {
    const core = running();
    for (;;) {
      const entity = core.queue.pop()!;
      if (entity.key === late) {
        core.queue.failed(entity, { unschedulablePlugins: new Set(), rejectedPods: [], error: true });
        break;
      }
      core.queue.done(entity);
    }
    core.change('late-1', { nodeName: 'a' });
    expect(core.states()[late]).toBe('backoff');
    core.pod({ name: 'new', cpu: 1, priority: 1_000 });
    core.harness.clock.advance(10_000);
    expect(core.popAll()).toEqual([late, 'pod/new']);
  });

  it('keeps its turn if its attempt is running at that moment', () => {
    const core = running();
    const entity = (() => {
      for (;;) {
        const next = core.queue.pop()!;
        if (next.key === late) return next;
        core.queue.done(next);
      }
    })();
    core.change('late-1', { nodeName: 'a' });
    core.queue.failed(entity, { unschedulablePlugins: new Set(['NodeResourcesFit']), rejectedPods: [], error: false });
    core.pod({ name: 'new', cpu: 1, priority: 1_000 });
    core.harness.clock.advance(10_000);
    expect(core.popAll()).toEqual([late, 'pod/new']);
  });
});

interface Step {
  readonly group: number;
  readonly member: number;
  readonly what: 'bind' | 'delete' | 'create' | 'reject' | 'wait';
}

const step: fc.Arbitrary<Step> = fc.record({
  group: fc.nat(3),
  member: fc.nat(2),
  what: fc.constantFrom('bind', 'delete', 'create', 'reject', 'wait'),
});

test('after any sequence of changes, an active partially bound gang is popped before all other entities', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const core = new Queueing({ plugins: defaultPlugins });
      core.node({ name: 'a', cpu: 64 });
      const states = new Map<string, 'waiting' | 'bound'>();
      const name = ({ group, member }: Step): string => `g${group}-${member}`;
      for (let group = 0; group < 4; group++) {
        core.group({ name: `g${group}`, minMember: 3 });
        core.members(3, { group: `g${group}`, cpu: 1, priority: group });
        for (let member = 0; member < 3; member++) states.set(`g${group}-${member}`, 'waiting');
      }
      for (const one of steps) {
        const pod = name(one);
        if (one.what === 'create' && !states.has(pod)) {
          core.pod({ name: pod, group: `g${one.group}`, cpu: 1, priority: one.group });
          states.set(pod, 'waiting');
        } else if (one.what === 'bind' && states.get(pod) === 'waiting') {
          core.change(pod, { nodeName: 'a' });
          states.set(pod, 'bound');
        } else if (one.what === 'delete' && states.has(pod)) {
          core.removePod(pod);
          states.delete(pod);
        } else if (one.what === 'wait') {
          core.harness.clock.advance(3_000);
        } else if (one.what === 'reject' && core.queue.sizes.active > 0) {
          core.rejectNext('NodeResourcesFit');
        }
        for (const { schedulingEntity, sortKey, state } of core.queue.entities()) {
          if (schedulingEntity.kind === 'gang' && state.kind !== 'gated')
            expect(sortKey.incomplete).toBe(schedulingEntity.gang.incomplete);
        }
        const { active } = core.queue.sizes;
        if (active === 0) continue;
        const popped = core.queue.pop()!;
        const waiting = [...core.queue.entities()].filter(({ state }) => state.kind === 'active');
        if (!popped.sortKey.incomplete) expect(waiting.filter(({ sortKey }) => sortKey.incomplete)).toEqual([]);
        core.queue.failed(popped, {
          unschedulablePlugins: new Set(['NodeResourcesFit']),
          rejectedPods: [],
          error: false,
        });
      }
    }),
    { numRuns: 300 },
  );
});
