import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import { emptyTimeline, withMessage } from '../../api/timeline/client-timeline.ts';
import type { TimelineMessage, TimelineSnapshot } from '../../api/timeline/timeline-message.ts';
import type { Pod } from '../../api/pod.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import { TimelineFeed } from './timeline-feed.ts';
import { Timeline } from './timeline.ts';

const index = fc.nat(20);
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('create' as const), group: fc.option(fc.constantFrom('red', 'blue')) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('bind' as const), index }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('reject' as const), index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('node' as const), index }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('flush' as const),
      fate: fc.constantFrom('received', 'received', 'doubled', 'lost', 'skipped'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reconnect' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('noClient' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leader' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

type Entity = Pick<QueuedEntity, 'schedulingEntity' | 'rejectionPosition'>;

/** A server with a short memory, and a client whose connection may break at any time. */
class Story {
  readonly harness = new CoreHarness({ plugins: defaultPlugins });
  readonly timeline: Timeline;
  readonly feed: TimelineFeed;
  client: ClientTimeline = emptyTimeline;
  isConnected = false;
  readonly #pods: Pod[] = [];
  /** uid -> the entity of the pod in the queue */
  readonly #entities = new Map<string, Entity>();
  #nodes = 0;
  #epochs = 0;
  #created = 0;

  constructor() {
    const { core, cluster, clock } = this.harness;
    const { queue, profiles } = core;
    const parts = { cluster, queue, profiles, clock };
    this.timeline = new Timeline({ ...parts, maxEntries: 12 });
    this.feed = new TimelineFeed({ ...parts, timeline: this.timeline, verdictOf: () => undefined });
    for (const name of ['red', 'blue']) this.harness.group({ name, minMember: 3 });
    this.#lead();
    this.feed.start();
  }

  play(step: Action): void {
    const { harness, timeline } = this;
    harness.clock.advance(10);
    switch (step.kind) {
      case 'create': {
        const { group } = step;
        const pod = harness.pod({ name: `p-${this.#created++}`, ...(group !== null && { group }) });
        this.#pods.push(pod);
        timeline.podChanged(undefined, pod, harness.clock.now());
        break;
      }
      case 'bind':
        this.#change(step.index, (pod) => (pod.nodeName === '' ? { ...pod, nodeName: 'n-0' } : pod));
        break;
      case 'reject': {
        const pod = this.#at(step.index);
        if (pod === undefined) break;
        timeline.rejected(this.#entityOf(pod), { reason: 'Unschedulable', message: 'full', waitsFor: 'capacity' });
        break;
      }
      case 'delete':
        this.#change(step.index, () => undefined);
        break;
      case 'node':
        if (step.index % 3 === 0 && this.#nodes > 0) harness.cluster.removeNode(`n-${--this.#nodes}`);
        else harness.node({ name: `n-${this.#nodes++}`, cpu: 4 });
        break;
      case 'flush':
        this.flush(step);
        break;
      case 'reconnect':
        this.isConnected = false;
        this.reconnect();
        break;
      case 'noClient':
        this.isConnected = false;
        this.feed.stop();
        break;
      case 'leader':
        this.#lead();
        break;
    }
  }

  /** `lost`: the connection breaks before the client has the message. `skipped`: it does not, but the message is lost nevertheless. */
  flush({ fate }: { readonly fate: 'received' | 'doubled' | 'lost' | 'skipped' }): void {
    this.#start();
    if (this.feed.epoch !== this.feed.last.epoch) {
      this.feed.restart();
      if (this.isConnected && fate !== 'lost') {
        this.#receive({ kind: 'gap', reason: 'NewLeader', epoch: this.feed.epoch, now: 0 });
        this.#receive(this.#snapshot());
      }
    }
    const delta = this.feed.delta();
    if (fate === 'lost') this.isConnected = false;
    if (!this.isConnected || delta === undefined) return;
    // Only sequence numbers show that a message is missing.
    if (fate === 'skipped' && delta.sequence > delta.from) return;
    this.#receive(delta);
    if (fate === 'doubled') this.#receive(delta);
  }

  reconnect(): void {
    this.flush({ fate: 'received' });
    if (this.isConnected && this.client.status === 'current') return;
    this.isConnected = true;
    const { epoch, sequence } = this.client;
    const resumes = this.client.status !== 'empty' && this.feed.holds({ epoch, sequence });
    this.#receive(resumes ? this.#snapshot(sequence) : this.#snapshot());
  }

  #start(): void {
    this.feed.start();
  }

  #snapshot(after?: number): TimelineSnapshot {
    const { entities, nodes, transitions, ...rest } = this.feed.snapshot(after);
    return { kind: 'snapshot', ...rest, entities: [...entities], nodes: [...nodes], transitions: [...transitions] };
  }

  #receive(message: TimelineMessage): void {
    this.client = withMessage(this.client, message);
  }

  #entityOf(pod: Pod): Entity {
    const known = this.#entities.get(pod.uid);
    const entity = known ?? { schedulingEntity: { kind: 'pod', pod }, rejectionPosition: -1 };
    this.#entities.set(pod.uid, entity);
    return entity;
  }

  #at(at: number): Pod | undefined {
    return this.#pods[at % this.#pods.length];
  }

  #change(at: number, change: (pod: Pod) => Pod | undefined): void {
    const before = this.#at(at);
    if (before === undefined) return;
    const now = change(before);
    if (now === before) return;
    const { cluster } = this.harness;
    if (now === undefined) cluster.removePod(before.uid);
    else cluster.setPod(now);
    this.#pods.splice(this.#pods.indexOf(before), 1, ...(now === undefined ? [] : [now]));
    this.timeline.podChanged(before, now, this.harness.clock.now());
  }

  #lead(): void {
    this.timeline.begin(`epoch-${this.#epochs++}`);
  }

  /** What a client must have that connects now and has received nothing. */
  get fresh(): ClientTimeline {
    return withMessage(emptyTimeline, this.#snapshot());
  }
}

describe('a client of the timeline', () => {
  it('UI5: has each transition once and as the server has it, after any lost and doubled messages, gaps and reconnects', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 100, size: 'max' }), (steps) => {
        const story = new Story();
        for (const step of [...steps, { kind: 'create', group: null } as const]) story.play(step);
        story.reconnect();
        const { client, fresh } = story;
        expect(client.status).toBe('current');
        expect({ epoch: client.epoch, sequence: client.sequence }).toEqual({
          epoch: fresh.epoch,
          sequence: fresh.sequence,
        });
        expect(client.transitions).toEqual(fresh.transitions);
        expect([...client.nodes.values()].sort(byName)).toEqual([...fresh.nodes.values()].sort(byName));
        const keys = [...client.entities.keys()].sort();
        expect(keys).toEqual([...fresh.entities.keys()].sort());
        for (const key of keys) {
          const { state, counts, subject } = client.entities.get(key)!;
          const { uid: _, ...name } = fresh.entities.get(key)!.subject;
          expect({ state, counts, subject }).toMatchObject({ state: fresh.entities.get(key)!.state, subject: name });
          if (state !== 'Gone') expect(client.entities.get(key)).toEqual(fresh.entities.get(key));
        }
      }),
      { numRuns: 300 },
    );
  });
});

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
