import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { podGroupConditions } from '../../api/pod-group.ts';
import { planAnnotations } from '../../api/pod.ts';
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
  /** Annotations of a Binding for the group with this uid. */
  const boundFor = (uid: string): Readonly<Record<string, string>> => ({
    [planAnnotations.groupUid]: uid,
    [planAnnotations.quorum]: '3',
  });

  /** Group half has one of three members bound. Everything else has waited longer. */
  function halfBound(annotations: Readonly<Record<string, string>>): Scheduling {
    const core = newLeader();
    core.node({ name: 'a', cpu: 64 });
    core.pod({ name: 'urgent', cpu: 1, priority: 1 });
    core.pod({ name: 'lone', cpu: 1 });
    core.group({ name: 'new', minMember: 2, createdAt: 0 });
    core.members(2, { group: 'new', cpu: 1 });
    core.group({ name: 'half', minMember: 3, createdAt: 9_000, repairGraceSeconds: 20 });
    core.members(2, { group: 'half', cpu: 1 });
    core.pod({ name: 'half-2', group: 'half', cpu: 1, nodeName: 'a', annotations });
    core.start();
    return core;
  }

  it('completes the gangs that Bindings left partially bound before anything else of their priority', async () => {
    const core = halfBound(boundFor('half'));
    const order = await attempted(core);
    expect(order.slice(0, 2)).toEqual(['pod/urgent', 'gang/default/half']);
    expect(order.slice(2).sort()).toEqual(['gang/default/new', 'pod/lone']);
  });

  it('does not prefer a gang whose member was created with a nodeName', () => {
    const core = halfBound({});
    expect(core.popAll().at(-1)).toBe('gang/default/half');
  });

  it('does not trust annotations for longer than the grace period of the group', () => {
    const core = halfBound(boundFor('half'));
    core.harness.clock.advance(19_999);
    expect(core.queue.get('gang/default/half')!.sortKey.incomplete).toBe(true);
    core.harness.clock.advance(1);
    expect(core.queue.get('gang/default/half')!.sortKey.incomplete).toBe(false);
    expect(core.popAll().at(-1)).toBe('gang/default/half');
  });

  it('trusts them no longer if its members got our schedulerName only later', () => {
    const core = newLeader();
    core.node({ name: 'a', cpu: 64 });
    core.group({ name: 'half', minMember: 3, repairGraceSeconds: 20 });
    core.pod({
      ...{ name: 'half-0', group: 'half', nodeName: 'a', phase: 'Running' },
      ...{ schedulerName: 'another', annotations: boundFor('half') },
    });
    core.start();
    core.harness.clock.advance(20_000);
    core.pod({ name: 'half-1', group: 'half', cpu: 1 });
    core.pod({ name: 'half-2', group: 'half', cpu: 1 });
    expect(core.queue.get('gang/default/half')!.sortKey.incomplete).toBe(false);
  });

  it('gives the last free capacity to a partially bound gang, not to a new one', async () => {
    const core = newLeader();
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'new', minMember: 2 });
    core.members(2, { group: 'new', cpu: 1 });
    core.group({ name: 'old', minMember: 4, createdAt: 9_000 });
    core.members(2, { group: 'old', cpu: 1 });
    for (const name of ['old-2', 'old-3']) {
      core.pod({ name, group: 'old', cpu: 1, nodeName: 'a', phase: 'Running', annotations: boundFor('old') });
    }
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
  /** A pod of higher priority, and two gangs and a pod that rank before gang late. Binding `late-1` makes late partially bound. */
  function running(extra: readonly Plugin[] = []): Queueing {
    const core = new Queueing({ plugins: defaultPlugins, extra });
    core.node({ name: 'a', cpu: 64 });
    for (const name of ['one', 'two']) {
      core.group({ name, minMember: 2 });
      core.members(2, { group: name, cpu: 1 });
    }
    core.pod({ name: 'lone', cpu: 1 });
    core.group({ name: 'late', minMember: 2 });
    core.members(2, { group: 'late', cpu: 1 });
    core.pod({ name: 'urgent', cpu: 1, priority: 1 });
    return core;
  }
  const urgent = 'pod/urgent';
  const others = ['gang/default/one', 'gang/default/two', 'pod/lone'];
  const late = 'gang/default/late';
  /** What the Binding of a scheduler that knows the group changes. */
  const bound = { nodeName: 'a', plannedGroupUid: 'late' };

  it('moves to the front of its priority in the active queue', () => {
    const core = running();
    core.change('late-1', bound);
    expect(core.popAll()).toEqual([urgent, late, ...others]);
  });

  it('keeps its place if a member was bound without its group, or was created with a nodeName', () => {
    const core = running();
    core.change('late-1', { nodeName: 'a' });
    expect(core.popAll()).toEqual([urgent, ...others, late]);
    const other = running();
    other.removePod('late-1');
    other.pod({
      name: 'late-2',
      group: 'late',
      cpu: 1,
      nodeName: 'a',
      annotations: { [planAnnotations.groupUid]: 'late' },
    });
    expect(other.popAll()).toEqual([urgent, ...others, late]);
  });

  it('moves back when its grace period ends, so that a user cannot keep the place for later', () => {
    const core = running();
    core.group({ name: 'late', minMember: 2, repairGraceSeconds: 20, repairPolicy: 'KeepTrying' });
    core.change('late-1', bound);
    core.harness.clock.advance(19_999);
    expect(core.queue.get(late)!.sortKey.incomplete).toBe(true);
    core.harness.clock.advance(1);
    core.group({ name: 'late', minMember: 4, repairGraceSeconds: 20, repairPolicy: 'KeepTrying' });
    for (const name of ['late-3', 'late-4']) core.pod({ name, group: 'late', cpu: 32 });
    expect(core.popAll()).toEqual([urgent, ...others, late]);
  });

  it('goes first again if it has lost all bound members in between', () => {
    const core = running();
    core.group({ name: 'late', minMember: 2, repairGraceSeconds: 20, repairPolicy: 'KeepTrying' });
    core.change('late-1', bound);
    core.harness.clock.advance(20_000);
    core.removePod('late-1');
    core.pod({ name: 'late-2', group: 'late', cpu: 1 });
    expect(core.queue.get(late)!.sortKey.incomplete).toBe(false);
    core.change('late-2', bound);
    expect(core.popAll()).toEqual([urgent, late, ...others]);
  });

  it('moves back once it is no longer partially bound', () => {
    const core = running();
    core.change('late-1', bound);
    core.removePod('late-1');
    core.pod({ name: 'late-2', group: 'late', cpu: 1 });
    expect(core.popAll()).toEqual([urgent, ...others, late]);
  });

  it('is activated and goes first if it was unschedulable', () => {
    const core = running();
    while (core.rejectNext('NodeResourcesFit').key !== late);
    expect(core.states()[late]).toBe('unschedulable');
    core.pod({ name: 'new', cpu: 1 });
    core.change('late-1', bound);
    expect(core.states()[late]).toBe('active');
    expect(core.popAll().slice(0, 2)).toEqual([late, 'pod/new']);
  });

  it('is activated and goes first if it is backing off after a rejection', () => {
    const core = running();
    while (core.rejectNext('NodeResourcesFit').key !== late);
    core.node({ name: 'b', cpu: 64 });
    expect(core.states()[late]).toBe('backoff');
    core.pod({ name: 'new', cpu: 1 });
    core.change('late-1', bound);
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
    core.change('late-1', bound);
    expect(core.states()[late]).toBe('backoff');
    core.pod({ name: 'new', cpu: 1 });
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
    core.change('late-1', bound);
    core.queue.failed(entity, { unschedulablePlugins: new Set(['NodeResourcesFit']), rejectedPods: [], error: false });
    core.pod({ name: 'new', cpu: 1 });
    core.harness.clock.advance(10_000);
    expect(core.popAll()).toEqual([late, 'pod/new']);
  });
});

interface Step {
  readonly group: number;
  readonly member: number;
  readonly what: 'bind' | 'place' | 'delete' | 'create' | 'reject' | 'wait';
}

const step: fc.Arbitrary<Step> = fc.record({
  group: fc.nat(3),
  member: fc.nat(2),
  what: fc.constantFrom('bind', 'place', 'delete', 'create', 'reject', 'wait'),
});

test('after any sequence of changes, an active gang that Bindings left partially bound is popped before all others of its priority', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const core = new Queueing({ plugins: defaultPlugins });
      core.node({ name: 'a', cpu: 64 });
      const states = new Map<string, 'waiting' | 'bound' | 'placed'>();
      const name = ({ group, member }: Step): string => `g${group}-${member}`;
      for (let group = 0; group < 4; group++) {
        core.group({ name: `g${group}`, minMember: 3 });
        core.members(3, { group: `g${group}`, cpu: 1, priority: group % 2 });
        for (let member = 0; member < 3; member++) states.set(`g${group}-${member}`, 'waiting');
      }
      for (const one of steps) {
        const pod = name(one);
        if (one.what === 'create' && !states.has(pod)) {
          core.pod({ name: pod, group: `g${one.group}`, cpu: 1, priority: one.group % 2 });
          states.set(pod, 'waiting');
        } else if (one.what === 'bind' && states.get(pod) === 'waiting') {
          core.change(pod, { nodeName: 'a', plannedGroupUid: `g${one.group}` });
          states.set(pod, 'bound');
        } else if (one.what === 'place' && !states.has(pod)) {
          const annotations = { [planAnnotations.groupUid]: `g${one.group}` };
          core.pod({ name: pod, group: `g${one.group}`, cpu: 1, priority: one.group % 2, nodeName: 'a', annotations });
          states.set(pod, 'placed');
        } else if (one.what === 'delete' && states.has(pod)) {
          core.removePod(pod);
          states.delete(pod);
        } else if (one.what === 'wait') {
          core.harness.clock.advance(3_000);
        } else if (one.what === 'reject' && core.queue.sizes.active > 0) {
          core.rejectNext('NodeResourcesFit');
        }
        for (const { schedulingEntity, sortKey, state } of core.queue.entities()) {
          if (schedulingEntity.kind !== 'gang' || state.kind === 'gated') continue;
          const { gang } = schedulingEntity;
          const isOurs = [...gang.members.keys()].some((uid) => states.get(uid) === 'bound');
          expect(sortKey.incomplete).toBe(gang.incomplete && isOurs);
        }
        const { active } = core.queue.sizes;
        if (active === 0) continue;
        const popped = core.queue.pop()!;
        const waiting = [...core.queue.entities()].filter(({ state }) => state.kind === 'active');
        const { incomplete, priority } = popped.sortKey;
        for (const { sortKey } of waiting) {
          expect(sortKey.priority).toBeLessThanOrEqual(priority);
          if (sortKey.priority === priority) expect(sortKey.incomplete && !incomplete).toBe(false);
        }
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
