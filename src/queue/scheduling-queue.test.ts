import type { Verdict } from '../api/verdict.ts';
import { describe, expect, it } from 'vitest';
import { Status } from '../framework/status.ts';
import { nameOf, QueueFixture } from './testing/queue-fixture.ts';

const shut = new Status('UnschedulableAndUnresolvable', 'the gate is shut');

describe('the queue order', () => {
  it('is by priority, then by ready time, then by uid', () => {
    const fixture = new QueueFixture();
    fixture.add('b');
    fixture.add('a');
    fixture.clock.advance(1);
    fixture.add('late');
    fixture.add('important', { priority: 5 });
    const order = [];
    for (let entity = fixture.queue.pop(); entity !== undefined; entity = fixture.queue.pop()) {
      order.push(nameOf(entity));
      fixture.queue.done(entity);
    }
    expect(order).toEqual(['important', 'a', 'b', 'late']);
  });

  it('is frozen while an entity is queued, even if its pod changes', () => {
    const fixture = new QueueFixture();
    fixture.add('a', { priority: 1 });
    fixture.add('b', { priority: 2 });
    fixture.add('a', { priority: 9 });
    fixture.clock.advance(1000);
    expect(fixture.pop()).toBe('b');
  });

  it('is the same after a failure, which costs backoff but not rank', () => {
    const fixture = new QueueFixture();
    fixture.add('old');
    fixture.clock.advance(10);
    fixture.add('young');
    fixture.fail('old', 'NodeWatcher');
    fixture.clock.advance(1000);
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.pop()).toBe('old');
  });

  it('lets no entity wait behind a failed one', () => {
    const fixture = new QueueFixture();
    fixture.add('stuck', { priority: 9 });
    fixture.add('other');
    fixture.fail('stuck', 'NodeWatcher');
    expect(fixture.stateOf('stuck')).toBe('unschedulable');
    expect(fixture.pop()).toBe('other');
  });

  it('can be listed with all entities that are not gated, and says how many are ahead of one', () => {
    const fixture = new QueueFixture();
    fixture.add('failed', { priority: 9 });
    fixture.fail('failed', 'NodeWatcher');
    fixture.clock.advance(1);
    fixture.add('first');
    fixture.clock.advance(1);
    fixture.add('second');
    fixture.gates.set('shut', shut);
    fixture.add('shut', { priority: 99 });
    const { queue } = fixture;
    expect(queue.inOrder().map(nameOf)).toEqual(['failed', 'first', 'second']);
    expect(queue.inOrder().map((entity) => queue.ahead(entity))).toEqual([0, 1, 2]);
  });

  it('allows one entity in flight at a time', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    fixture.add('b');
    fixture.pop();
    expect(() => fixture.pop()).toThrow('pod/a is still in flight');
  });
});

describe('backoff', () => {
  it('starts at 1 s and doubles up to 10 s', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const penalties = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const entity = fixture.queue.pop()!;
      fixture.queue.failed(entity, fixture.failure(entity, [], true));
      let waited = 0;
      for (; fixture.stateOf('a') === 'backoff'; waited += 500) fixture.clock.advance(500);
      penalties.push(waited);
    }
    expect(penalties).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('starts at the failure, so that it is over when a late event arrives', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    fixture.fail('a', 'NodeWatcher');
    fixture.clock.advance(600);
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.stateOf('a')).toBe('backoff');
    fixture.clock.advance(399);
    expect(fixture.stateOf('a')).toBe('backoff');
    fixture.clock.advance(1);
    expect(fixture.stateOf('a')).toBe('active');
    expect(fixture.moves).toEqual([
      'PodAdd -> active',
      'ScheduleAttemptFailure -> unschedulable',
      'NodeAdd -> backoff',
      'BackoffComplete -> active',
    ]);
  });

  it('ends early for an idle scheduler, by rank, but only after a rejection', () => {
    const fixture = new QueueFixture();
    fixture.add('erred', { priority: 9 });
    fixture.failWithError('erred');
    fixture.add('low');
    fixture.fail('low', 'NodeWatcher');
    fixture.add('high', { priority: 1 });
    fixture.fail('high', 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect([fixture.stateOf('low'), fixture.stateOf('high'), fixture.stateOf('erred')]).toEqual(
      Array(3).fill('backoff'),
    );
    expect(fixture.pop()).toBe('high');
    fixture.queue.done(fixture.queue.get('pod/high')!);
    expect(fixture.pop()).toBe('low');
    fixture.queue.done(fixture.queue.get('pod/low')!);
    expect(fixture.pop()).toBeUndefined();
    expect(fixture.queue.sizes.backoff).toBe(1);
    fixture.clock.advance(1000);
    expect(fixture.pop()).toBe('erred');
  });

  it('keeps an entity behind active ones', () => {
    const fixture = new QueueFixture();
    fixture.add('high', { priority: 9 });
    fixture.fail('high', 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    fixture.add('low');
    expect(fixture.pop()).toBe('low');
  });

  it('after errors keeps growing if a rejection occurs between them', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    for (const wait of [1000, 2000, 4000, 8000, 10_000, 10_000]) {
      fixture.failWithError('a');
      fixture.clock.advance(wait - 1);
      expect(fixture.stateOf('a')).toBe('backoff');
      fixture.clock.advance(1);
      fixture.fail('a', 'NodeWatcher');
      fixture.queue.moveOnEvent(fixture.nodeAdded());
    }
  });

  it('after errors restarts after a rejection long after the last error', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    for (let attempt = 0; attempt < 4; attempt++) {
      fixture.failWithError('a');
      fixture.clock.advance(10_000);
    }
    fixture.clock.advance(10_000);
    fixture.fail('a', 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    fixture.failWithError('a');
    fixture.clock.advance(1000);
    expect(fixture.stateOf('a')).toBe('active');
  });

  it('after errors depends on the number of errors, not of attempts', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    for (let attempt = 0; attempt < 3; attempt++) {
      fixture.fail('a', 'NodeWatcher');
      fixture.clock.advance(10_000);
      fixture.queue.moveOnEvent(fixture.nodeAdded());
    }
    fixture.failWithError('a');
    fixture.clock.advance(1000);
    expect(fixture.stateOf('a')).toBe('active');
  });

  it('after a rejection depends on the number of rejections, not of earlier errors', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    for (const wait of [1000, 2000, 4000]) {
      fixture.failWithError('a');
      fixture.clock.advance(wait);
    }
    fixture.fail('a');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.queue.get('pod/a')!.state).toEqual({ kind: 'backoff', until: fixture.clock.monotonic() + 1000 });
  });

  it('keeps its order when the key of an entity that has left changes', () => {
    const fixture = new QueueFixture();
    fixture.add('p', { priority: 5 });
    fixture.add('q', { priority: 2 });
    fixture.fail('p', 'NodeWatcher');
    fixture.fail('q', 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    fixture.add('x', { priority: 3 });
    for (const name of ['x', 'p', 'q']) fixture.fail(name, 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    // The shorter backoff of x is over, and x ranks higher from its next failure on.
    fixture.clock.advance(1000);
    fixture.add('x', { priority: 9 });
    fixture.fail('x', 'Neighbor');
    fixture.add('n', { priority: 7 });
    fixture.fail('n', 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.pop()).toBe('n');
  });
});

describe('events', () => {
  it('move only entities that a rejecting plugin’s hint accepts', () => {
    const fixture = new QueueFixture();
    fixture.add('a', { namespace: 'one' });
    fixture.add('b', { namespace: 'two' });
    fixture.fail('a', 'Neighbor');
    fixture.fail('b', 'Neighbor');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.queue.sizes.unschedulable).toBe(2);
    fixture.queue.moveOnEvent(fixture.podDeleted('two'));
    expect([fixture.stateOf('a'), fixture.stateOf('b')]).toEqual(['unschedulable', 'backoff']);
  });

  it('during an attempt are replayed when it fails', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const entity = fixture.queue.pop()!;
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    fixture.queue.failed(entity, fixture.failure(entity, ['NodeWatcher'], false));
    expect(fixture.stateOf('a')).toBe('backoff');
  });

  it('during another attempt are not replayed', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    fixture.add('b');
    const a = fixture.queue.pop()!;
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    fixture.queue.done(a);
    fixture.fail('b', 'NodeWatcher');
    expect(fixture.stateOf('b')).toBe('unschedulable');
  });

  it('always move an entity that no plugin rejected', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    fixture.fail('a');
    fixture.queue.moveOnEvent(fixture.podDeleted('elsewhere'));
    expect(fixture.stateOf('a')).toBe('backoff');
  });

  it('for which a plugin returned Pending skip the backoff; other helpful events do not', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    fixture.failPending('a', 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.stateOf('a')).toBe('active');
    const a = fixture.queue.pop()!;
    fixture.queue.failed(a, fixture.failure(a, ['NodeWatcher', 'Neighbor'], false, ['NodeWatcher']));
    fixture.queue.moveOnEvent(fixture.podDeleted());
    expect(fixture.stateOf('a')).toBe('backoff');
  });

  it('for which a plugin returns Pending also skip the backoff if they arrive during the attempt', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const a = fixture.queue.pop()!;
    fixture.queue.moveOnEvent(fixture.podDeleted());
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    fixture.queue.failed(a, fixture.failure(a, ['NodeWatcher', 'Neighbor'], false, ['NodeWatcher']));
    expect(fixture.stateOf('a')).toBe('active');
  });

  it('wake the scheduler when an entity can be popped', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    expect(fixture.ready).toBe(1);
    fixture.fail('a', 'NodeWatcher');
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.ready).toBe(2);
    fixture.clock.advance(1000);
    expect(fixture.ready).toBe(3);
  });
});

describe('an entity that PreEnqueue rejects', () => {
  it('stays gated with the reason until PreEnqueue accepts a change', () => {
    const fixture = new QueueFixture();
    fixture.gates.set('a', shut);
    fixture.add('a');
    expect(fixture.queue.get('pod/a')!.state).toEqual({ kind: 'gated', status: shut });
    expect(fixture.pop()).toBeUndefined();
    fixture.add('a');
    expect(fixture.gated).toEqual(['pod/a', 'pod/a']);
    expect(fixture.queue.sizes.gated).toBe(1);
    fixture.clock.advance(5000);
    fixture.gates.clear();
    fixture.add('a');
    expect(fixture.queue.sizes).toEqual({ active: 1, backoff: 0, unschedulable: 0, gated: 0 });
    expect(fixture.queue.get('pod/a')!.readySince).toBe(fixture.clock.now());
  });

  it('leaves its store, and returns with the same rank', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const since = fixture.clock.now();
    fixture.add('b');
    fixture.fail('a', 'NodeWatcher');
    fixture.gates.set('a', shut);
    fixture.add('a');
    expect(fixture.queue.sizes).toEqual({ active: 1, backoff: 0, unschedulable: 0, gated: 1 });
    fixture.gates.clear();
    fixture.clock.advance(1000);
    fixture.add('a');
    expect(fixture.queue.get('pod/a')!.sortKey.readySince).toBe(since);
    expect(fixture.pop()).toBe('a');
  });

  it('is gated when its attempt fails or finds it not ready; the latter does not count as an attempt', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const a = fixture.queue.pop()!;
    fixture.gates.set('a', shut);
    fixture.queue.notReady(a);
    expect([a.state.kind, a.attempts]).toEqual(['gated', 0]);
    fixture.gates.clear();
    fixture.add('a');
    fixture.pop();
    fixture.gates.set('a', shut);
    fixture.queue.failed(a, fixture.failure(a, ['NodeWatcher'], false));
    expect([a.state.kind, a.attempts]).toEqual(['gated', 1]);
  });
});

describe('an entity gated by a plugin with registered events', () => {
  const barred = new Status('UnschedulableAndUnresolvable', 'barred', 'Gate');

  it('goes through PreEnqueue again at the registered events only', () => {
    const fixture = new QueueFixture();
    fixture.gates.set('a', barred);
    fixture.gates.set('b', shut);
    fixture.add('a');
    fixture.add('b');
    fixture.gates.clear();
    fixture.queue.moveOnEvent(fixture.podDeleted());
    expect(fixture.queue.sizes.gated).toBe(2);
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect([fixture.stateOf('a'), fixture.stateOf('b')]).toEqual(['active', 'gated']);
  });

  it('waits for its backoff, so that a flapping gate does not skip it', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const a = fixture.queue.pop()!;
    fixture.gates.set('a', barred);
    fixture.queue.failed(a, fixture.failure(a, [], true));
    fixture.gates.clear();
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    expect(fixture.stateOf('a')).toBe('backoff');
    expect(fixture.pop()).toBeUndefined();
    fixture.clock.advance(1000);
    expect(fixture.pop()).toBe('a');
  });
});

describe('an entity whose demand changes during its attempt', () => {
  it.each(['in flight', 'set aside'])('is retried after a backoff if the attempt fails: %s', (how) => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const a = fixture.queue.pop()!;
    if (how === 'set aside') fixture.queue.setAside(a, () => undefined);
    fixture.queue.upsert(fixture.schedulingEntity('a'), 'PodUpdate', { asksElse: true });
    if (how === 'set aside') fixture.queue.resume(a);
    fixture.queue.failed(a, fixture.failure(a, ['NodeWatcher'], false));
    expect(a.state.kind).toBe('backoff');
    fixture.clock.advance(1000);
    fixture.fail('a', 'NodeWatcher');
    expect(a.state.kind).toBe('unschedulable');
  });

  it('waits for an event if the change did not affect its demand', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const a = fixture.queue.pop()!;
    fixture.queue.upsert(fixture.schedulingEntity('a'), 'PodUpdate');
    fixture.queue.failed(a, fixture.failure(a, ['NodeWatcher'], false));
    expect(a.state.kind).toBe('unschedulable');
  });
});

describe('an entity that is activated', () => {
  it.each(['unschedulable', 'backoff', 'gated'] as const)('is active at once: %s', (store) => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const a = fixture.queue.pop()!;
    if (store === 'gated') fixture.gates.set('a', shut);
    fixture.queue.failed(a, fixture.failure(a, ['NodeWatcher'], store === 'backoff'));
    expect(a.state.kind).toBe(store);
    fixture.gates.clear();
    fixture.queue.activate(a.rejection.rejectedPods[0]!);
    expect([a.state.kind, fixture.moves.at(-1)]).toEqual(['active', 'ForceActivate -> active']);
    expect(fixture.queue.sizes).toEqual({ active: 1, backoff: 0, unschedulable: 0, gated: 0 });
    expect(fixture.pop()).toBe('a');
  });

  it('during its attempt is retried after a backoff if the attempt fails', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const a = fixture.queue.pop()!;
    fixture.queue.activate(fixture.build.projectedPod({ name: 'a', uid: 'a' }));
    fixture.queue.failed(a, fixture.failure(a, ['NodeWatcher'], false));
    expect(a.state.kind).toBe('backoff');
    fixture.clock.advance(1000);
    fixture.fail('a', 'NodeWatcher');
    expect(a.state.kind).toBe('unschedulable');
  });

  it('joins no equivalence class', () => {
    const fixture = new QueueFixture();
    for (const name of ['a', 'b']) {
      fixture.add(name);
      const entity = fixture.queue.pop()!;
      fixture.queue.failed(entity, { ...fixture.failure(entity, ['NodeWatcher'], false), key: 'same' });
    }
    const verdict: Verdict = { reason: 'Unschedulable', message: '', waitsFor: 'unknown' };
    fixture.queue.classOf(fixture.queue.get('pod/a')!)!.report = {
      verdict,
      verdictFor: () => verdict,
      nodesRevision: 1,
      changes: 1,
    };
    const { rejectedPods } = fixture.queue.get('pod/b')!.rejection;
    fixture.queue.activate(rejectedPods[0]!);
    const b = fixture.queue.pop()!;
    expect([nameOf(b), fixture.queue.classToJoin(b, 'same', 1)]).toEqual(['b', undefined]);
    fixture.queue.failed(b, { ...fixture.failure(b, ['NodeWatcher'], false), key: 'same' });
    expect(fixture.queue.sizes.unschedulable).toBe(2);
    expect(fixture.queue.classToJoin(b, 'same', 1)).toBeDefined();
  });

  it('stays gated if PreEnqueue rejects it', () => {
    const fixture = new QueueFixture();
    fixture.gates.set('a', shut);
    fixture.add('a');
    fixture.queue.activate(fixture.build.projectedPod({ name: 'a', uid: 'a' }));
    expect(fixture.stateOf('a')).toBe('gated');
    fixture.queue.activate(fixture.build.projectedPod({ name: 'unknown' }));
    expect(fixture.queue.sizes).toEqual({ active: 0, backoff: 0, unschedulable: 0, gated: 1 });
  });
});

describe('the flush', () => {
  it('retries an entity that no event has helped for too long, and counts it if it is then scheduled', () => {
    const fixture = new QueueFixture();
    fixture.queue.start();
    fixture.add('a');
    fixture.clock.advance(15_000);
    fixture.fail('a', 'NodeWatcher');
    fixture.clock.advance(5 * 60_000);
    expect([fixture.stateOf('a'), fixture.queue.flushed]).toEqual(['unschedulable', 0]);
    fixture.clock.advance(15_000);
    expect([fixture.stateOf('a'), fixture.queue.flushed]).toEqual(['active', 0]);
    expect(fixture.moves.at(-1)).toBe('UnschedulableTimeout -> active');
    // If it can be scheduled now, a hint was missed.
    fixture.queue.done(fixture.queue.pop()!);
    expect(fixture.queue.flushed).toBe(1);
    fixture.queue.stop();
    expect(fixture.clock.untilNextTimer()).toBeUndefined();
  });
});

describe('an entity that comes back', () => {
  it('keeps its history, and backs off as after an error', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const past = fixture.queue.pop()!;
    fixture.queue.done(past);
    fixture.clock.advance(700);
    fixture.queue.comeBack(fixture.schedulingEntity('a'), past, fixture.failure(past, [], true));
    expect(fixture.queue.get('pod/a')).toMatchObject({ attempts: 1, errors: 1, readySince: past.readySince });
    expect(fixture.pop()).toBeUndefined();
    fixture.clock.advance(1000);
    expect(fixture.pop()).toBe('a');
    expect(fixture.queue.get('pod/a')!.attempts).toBe(2);
  });

  it('is retried at once if the rest of its gang is bound, but only the first time', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const past = fixture.queue.pop()!;
    fixture.queue.done(past);
    fixture.incomplete.add('a');
    fixture.queue.comeBack(fixture.schedulingEntity('a'), past, fixture.failure(past, [], true));
    const again = fixture.queue.pop()!;
    expect(nameOf(again)).toBe('a');
    fixture.queue.done(again);
    fixture.queue.comeBack(fixture.schedulingEntity('a'), again, fixture.failure(again, [], true));
    expect(fixture.pop()).toBeUndefined();
    fixture.clock.advance(2000);
    expect(fixture.pop()).toBe('a');
  });

  it('has no effect if it is already queued', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const past = { ...fixture.queue.get('pod/a')!, attempts: 7 };
    fixture.queue.comeBack(fixture.schedulingEntity('a'), past, fixture.failure(past, [], true));
    expect(fixture.queue.get('pod/a')).toMatchObject({ attempts: 0, state: { kind: 'active' } });
  });

  it('is gated if it is not ready anymore', () => {
    const fixture = new QueueFixture();
    fixture.add('a');
    const past = fixture.queue.pop()!;
    fixture.queue.done(past);
    fixture.gates.set('a', shut);
    fixture.queue.comeBack(fixture.schedulingEntity('a'), past, fixture.failure(past, [], true));
    expect(fixture.stateOf('a')).toBe('gated');
  });
});

describe('an entity that is removed', () => {
  it.each(['active', 'backoff', 'unschedulable', 'gated', 'inFlight'])('while %s does not return', (state) => {
    const fixture = new QueueFixture();
    if (state === 'gated') fixture.gates.set('a', shut);
    fixture.add('a');
    if (state === 'backoff') fixture.failWithError('a');
    if (state === 'unschedulable') fixture.fail('a', 'NodeWatcher');
    const entity = state === 'inFlight' ? fixture.queue.pop()! : fixture.queue.get('pod/a')!;
    expect(fixture.stateOf('a')).toBe(state);
    fixture.queue.remove('pod/a');
    if (state === 'inFlight') fixture.queue.failed(entity, fixture.failure(entity, [], true));
    fixture.queue.moveOnEvent(fixture.nodeAdded());
    fixture.clock.advance(60_000);
    expect(fixture.pop()).toBeUndefined();
    expect(fixture.queue.sizes).toEqual({ active: 0, backoff: 0, unschedulable: 0, gated: 0 });
  });
});
