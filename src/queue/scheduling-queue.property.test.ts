import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { QueueKey } from '../framework/scheduling-entity.ts';
import { Status } from '../framework/status.ts';
import { byPriority, nameOf, QueueFixture } from './testing/queue-fixture.ts';

const names = ['a', 'b', 'c', 'd', 'e'];
const maxUnschedulableMs = 60_000;
const tickMs = 500;
const flushEveryMs = 30_000;

const happening = fc.constantFrom('nodeAdded' as const, 'podDeletedHere' as const, 'podDeletedThere' as const);

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('upsert' as const),
      name: fc.constantFrom(...names),
      priority: fc.integer({ min: 0, max: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('gate' as const),
      name: fc.constantFrom(...names),
      shut: fc.boolean(),
      // The gate belongs to a plugin with registered events, so no update reports its change.
      isOutside: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('activate' as const), name: fc.constantFrom(...names) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), name: fc.constantFrom(...names) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('attempt' as const),
      meanwhile: fc.array(happening, { maxLength: 1 }),
      outcome: fc.constantFrom('done' as const, 'rejected' as const, 'rejected' as const, 'error' as const),
      unschedulablePlugins: fc.subarray(['NodeWatcher', 'Neighbor']),
      pending: fc.subarray(['NodeWatcher', 'Neighbor']),
      isActivated: fc.integer({ min: 0, max: 9 }).map((tenth) => tenth === 0),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('event' as const), what: happening }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ticks: fc.integer({ min: 1, max: 70 }) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

interface ModelEntity {
  state: 'gated' | 'active' | 'backoff' | 'errorBackoff' | 'unschedulable';
  priority: number;
  key: QueueKey;
  readySince: number | undefined;
  until: number;
  since: number;
  rejections: number;
  errors: number;
  erredAt: number;
  failedAt: number;
  unschedulablePlugins: readonly string[];
  pending: readonly string[];
  isFlushed: boolean;
}

/** A simple model of the queue: it searches lists, and time advances in ticks. */
class Model {
  readonly entities = new Map<string, ModelEntity>();
  /** name -> whether the gate belongs to a plugin with registered events */
  readonly shut = new Map<string, boolean>();
  /** name -> the same for gated entities, as of the last PreEnqueue */
  readonly gatedBy = new Map<string, boolean>();
  flushed = 0;
  now = 0;

  upsert(name: string, priority: number): void {
    const known = this.entities.get(name);
    if (known === undefined) {
      const entity: ModelEntity = {
        state: 'gated',
        priority,
        key: this.#key(name, priority, this.now),
        readySince: undefined,
        until: 0,
        since: 0,
        rejections: 0,
        errors: 0,
        erredAt: 0,
        failedAt: 0,
        unschedulablePlugins: [],
        pending: [],
        isFlushed: false,
      };
      this.entities.set(name, entity);
      this.#admit(name, entity);
      return;
    }
    known.priority = priority;
    if (known.state === 'gated') this.#admit(name, known);
    else if (this.shut.has(name)) this.#gate(name, known);
  }

  activate(name: string): void {
    const entity = this.entities.get(name);
    if (entity === undefined) return;
    if (entity.state === 'gated') this.#admit(name, entity);
    else entity.state = 'active';
  }

  pop(): string | undefined {
    for (const store of ['active', 'backoff']) {
      const candidates = [...this.entities].filter(([, entity]) => entity.state === store);
      const [first] = candidates.sort(([, a], [, b]) => byPriority(a.key, b.key));
      if (first === undefined) continue;
      return first[0];
    }
    return undefined;
  }

  failed(
    name: string,
    how: {
      readonly error: boolean;
      readonly unschedulablePlugins: readonly string[];
      readonly pending: readonly string[];
      readonly isActivated: boolean;
    },
    meanwhile: readonly string[],
  ): void {
    const { error, unschedulablePlugins, pending, isActivated } = how;
    const entity = this.entities.get(name)!;
    Object.assign(entity, { failedAt: this.now, unschedulablePlugins, pending, isFlushed: false });
    if (error) {
      entity.errors++;
      entity.erredAt = this.now;
    } else {
      entity.rejections++;
      if (this.now - entity.erredAt >= 20_000) entity.errors = 0;
    }
    if (this.shut.has(name)) {
      this.#gate(name, entity);
      return;
    }
    entity.key = this.#key(name, entity.priority, entity.readySince!);
    const isHelped = isActivated || meanwhile.some((what) => this.#helps(name, entity, what));
    if (!error && meanwhile.some((what) => this.#endsWait(name, entity, what))) entity.state = 'active';
    else if (error || isHelped) this.#backOff(entity, error);
    else Object.assign(entity, { state: 'unschedulable', since: this.now });
  }

  happened(what: string): void {
    for (const [name, entity] of this.entities) {
      if (entity.state === 'unschedulable' && this.#endsWait(name, entity, what)) entity.state = 'active';
      else if (entity.state === 'unschedulable' && this.#helps(name, entity, what)) this.#backOff(entity, false);
      else if (what === 'nodeAdded' && entity.state === 'gated' && this.gatedBy.get(name) === true) {
        this.#admit(name, entity, true);
      }
    }
  }

  tick(): void {
    this.now += tickMs;
    for (const entity of this.entities.values()) {
      if (entity.state.toLowerCase().endsWith('backoff') && entity.until <= this.now) entity.state = 'active';
      if (this.now % flushEveryMs !== 0 || entity.state !== 'unschedulable') continue;
      if (entity.since > this.now - maxUnschedulableMs) continue;
      entity.isFlushed = true;
      this.#backOff(entity, false);
    }
  }

  #admit(name: string, entity: ModelEntity, hasPenalty = false): void {
    if (this.shut.has(name)) {
      this.#gate(name, entity);
      return;
    }
    entity.readySince ??= this.now;
    entity.key = this.#key(name, entity.priority, entity.readySince);
    if (hasPenalty) this.#backOff(entity, entity.errors > 0);
    else entity.state = 'active';
  }

  #gate(name: string, entity: ModelEntity): void {
    entity.state = 'gated';
    this.gatedBy.set(name, this.shut.get(name)!);
  }

  #backOff(entity: ModelEntity, error: boolean): void {
    const failures = error ? entity.errors : entity.rejections;
    entity.until = failures === 0 ? 0 : entity.failedAt + Math.min(1000 * 2 ** (failures - 1), 10_000);
    if (entity.until <= this.now) entity.state = 'active';
    else entity.state = error ? 'errorBackoff' : 'backoff';
  }

  #helps(name: string, { unschedulablePlugins }: ModelEntity, what: string): boolean {
    return unschedulablePlugins.length === 0 || this.#isHeardBy(unschedulablePlugins, name, what);
  }

  /** Completes what a plugin that returned Pending waits for. */
  #endsWait(name: string, { pending }: ModelEntity, what: string): boolean {
    return this.#isHeardBy(pending, name, what);
  }

  #isHeardBy(unschedulablePlugins: readonly string[], name: string, what: string): boolean {
    if (what === 'nodeAdded') return unschedulablePlugins.includes('NodeWatcher');
    return (
      unschedulablePlugins.includes('Neighbor') && namespaceOf(name) === (what === 'podDeletedHere' ? 'here' : 'there')
    );
  }

  #key(uid: string, priority: number, readySince: number): QueueKey {
    return { priority, readySince, uid, incomplete: false };
  }
}

function namespaceOf(name: string): string {
  return name < 'c' ? 'here' : 'there';
}

function eventOf(fixture: QueueFixture, what: string): ClusterEvent {
  if (what === 'nodeAdded') return fixture.nodeAdded();
  return fixture.podDeleted(what === 'podDeletedHere' ? 'here' : 'there');
}

function run(fixture: QueueFixture, model: Model, todo: Command): void {
  const { queue } = fixture;
  switch (todo.kind) {
    case 'upsert':
      fixture.add(todo.name, { priority: todo.priority, namespace: namespaceOf(todo.name) });
      model.upsert(todo.name, todo.priority);
      break;
    case 'gate': {
      const { isOutside } = todo;
      const gate = new Status('UnschedulableAndUnresolvable', 'shut', isOutside ? 'Gate' : 'Own');
      if (todo.shut) model.shut.set(todo.name, isOutside);
      else model.shut.delete(todo.name);
      if (todo.shut) fixture.gates.set(todo.name, gate);
      else fixture.gates.delete(todo.name);
      if (isOutside) break;
      // The gate is part of the entity, so a change of it is an update of the entity.
      const known = model.entities.get(todo.name);
      if (known !== undefined) run(fixture, model, { kind: 'upsert', name: todo.name, priority: known.priority });
      break;
    }
    case 'remove':
      queue.remove(`pod/${todo.name}`);
      model.entities.delete(todo.name);
      break;
    case 'activate':
      queue.activate(fixture.build.projectedPod({ name: todo.name, uid: todo.name }));
      model.activate(todo.name);
      break;
    case 'attempt': {
      const entity = queue.pop();
      const name = model.pop();
      expect(nameOf(entity)).toBe(name);
      if (entity === undefined || name === undefined) break;
      for (const what of todo.meanwhile) {
        queue.moveOnEvent(eventOf(fixture, what));
        model.entities.get(name)!.state = 'active';
        model.happened(what);
      }
      if (todo.outcome === 'done') {
        queue.done(entity);
        if (model.entities.get(name)!.isFlushed) model.flushed++;
        model.entities.delete(name);
        break;
      }
      const error = todo.outcome === 'error';
      const { unschedulablePlugins, isActivated } = todo;
      const pending = todo.pending.filter((plugin) => unschedulablePlugins.includes(plugin));
      if (isActivated) queue.activate(fixture.build.projectedPod({ name, uid: name }));
      queue.failed(entity, fixture.failure(entity, unschedulablePlugins, error, pending));
      model.failed(name, { error, unschedulablePlugins, pending, isActivated }, todo.meanwhile);
      break;
    }
    case 'event':
      queue.moveOnEvent(eventOf(fixture, todo.what));
      model.happened(todo.what);
      break;
    case 'wait':
      for (let i = 0; i < todo.ticks; i++) {
        fixture.clock.advance(tickMs);
        model.tick();
      }
      break;
  }
}

function expectSame(fixture: QueueFixture, model: Model): void {
  const states = (kind: string): string[] =>
    [...model.entities]
      .filter(([, { state }]) => (state === 'errorBackoff' ? 'backoff' : state) === kind)
      .map(([n]) => n);
  for (const kind of ['active', 'backoff', 'unschedulable', 'gated'] as const) {
    const actual = [...fixture.queue.entities()].filter(({ state }) => state.kind === kind);
    expect(actual.map(nameOf).sort(), kind).toEqual(states(kind).sort());
    expect(fixture.queue.sizes[kind], kind).toBe(states(kind).length);
  }
  expect(fixture.queue.flushed).toBe(model.flushed);
}

describe('SchedulingQueue', () => {
  it('behaves like a simple model for any sequence of operations', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 80, size: 'max' }), (commands) => {
        const fixture = new QueueFixture({ maxUnschedulableMs });
        const model = new Model();
        fixture.queue.start();
        for (const todo of commands) {
          run(fixture, model, todo);
          expectSame(fixture, model);
        }
        fixture.queue.stop();
      }),
      { numRuns: 300 },
    );
  });
});
