import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { EmbeddedApiServer } from '../plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../plane/apiserver/in-process-transport.ts';
import { Candidate } from './testing/candidate.ts';
import type { NetworkBehavior } from './testing/candidate.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Maximum delay of a message; less than lease duration - renew deadline. */
const maxDelayMs = 4_000;
const tickMs = 250;
const candidates = 3;

interface Trouble {
  readonly atTick: number;
  /** Absent: the leader at that time. */
  readonly target: number | undefined;
  /** deaf: its calls for the Lease are lost, but no others. */
  readonly kind: 'pause' | 'deaf' | 'drain' | 'cut' | 'touch' | 'delete';
  readonly ticks: number;
}

const trouble: fc.Arbitrary<Trouble> = fc.record({
  atTick: fc.nat(200),
  target: fc.option(fc.nat(candidates - 1), { nil: undefined, freq: 1 }),
  kind: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('pause' as const, 'deaf' as const, 'drain' as const, 'cut' as const) },
    { weight: 1, arbitrary: fc.constantFrom('touch' as const, 'delete' as const) },
  ),
  ticks: fc.integer({ min: 1, max: 120 }),
});

const world = fc.record({
  seed: fc.nat(2 ** 31),
  /** Percentages of calls. */
  slow: fc.integer({ min: 0, max: 60 }),
  lost: fc.integer({ min: 0, max: 30 }),
  troubles: fc.array(trouble, { maxLength: 8 }),
});

/** A process that writes whenever it may, and can be stopped in two ways. */
class Writer {
  readonly candidate: Candidate;
  readonly #cut = new AbortController();
  readonly #inFlight = new Set<Promise<unknown>>();
  #isStopping = false;

  constructor(candidate: Candidate) {
    this.candidate = candidate;
    candidate.elector.start();
  }

  get leads(): boolean {
    return this.candidate.fence.isOpen && !this.candidate.clock.isPaused;
  }

  write(): void {
    if (!this.leads || this.#isStopping) return;
    const { client, identity } = this.candidate;
    const object = { metadata: { generateName: `${identity}-` } };
    const call = { lane: 'bind', signal: this.#cut.signal } as const;
    const write = client.create('/api/v1/namespaces/default/configmaps', object, call).catch(() => undefined);
    this.#inFlight.add(write);
    void write.then(() => this.#inFlight.delete(write));
  }

  /** Resumes, and writes before any overdue timer has fired. */
  resume(): void {
    this.candidate.clock.resume(() => this.write());
  }

  /** Waits for the responses to its writes, or aborts them. */
  async stop(how: 'drain' | 'cut'): Promise<void> {
    this.#isStopping = true;
    if (how === 'cut') this.#cut.abort(new Error('stopped'));
    await Promise.all(this.#inFlight);
    await this.candidate.elector.stop();
  }
}

test('never mixes the writes of two leaders, and elects one in the end, despite delays, losses, pauses, stops and deletions', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ seed, slow, lost, troubles }) => {
      const clock = new VirtualClock();
      const random = seededRandom(seed);
      const server = new EmbeddedApiServer({ clock, random });
      const transport = new InProcessTransport(server);
      /** The writers in order of arrival, without repeats. */
      const writers: string[] = [];
      let isCalm = false;
      const deaf = new Set<string>();
      const network = (identity: string, isLease: boolean): NetworkBehavior => {
        if (isCalm) return { thereMs: 1, backMs: 1, loses: 'nothing' };
        const delay = (): number => (random() * 100 < slow ? random() * maxDelayMs : random() * 20);
        const loses = random() * 100 < lost ? (random() < 0.5 ? 'request' : 'answer') : 'nothing';
        return { thereMs: delay(), backMs: delay(), loses: isLease && deaf.has(identity) ? 'request' : loses };
      };
      const create = (name: string): Candidate =>
        new Candidate({
          identity: name,
          clock,
          random: seededRandom(seed + name.length),
          server: transport,
          network,
          onWrite: (writer) => {
            if (writers.at(-1) !== writer) writers.push(writer);
          },
        });
      const living = Array.from({ length: candidates }, (_, index) => new Writer(create(`process-${index}`)));
      const hasDeletions = troubles.some(({ kind }) => kind === 'delete');
      const admin = create('administrator').client;
      const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/tutti';
      const leaders = (): number => living.filter(({ leads }) => leads).length;
      const tick = async (): Promise<void> => {
        clock.advance(tickMs);
        await turn();
        await turn();
        for (const writer of living) writer.write();
        if (!hasDeletions) expect(leaders()).toBeLessThanOrEqual(1);
      };
      /** tick -> what happens then */
      const due = new Map<number, (() => void)[]>();
      const later = (at: number, action: () => void): void => void due.set(at, [...(due.get(at) ?? []), action]);
      for (let now = 0; now < 320; now++) {
        for (const { atTick, target, kind, ticks } of troubles) {
          if (now !== atTick) continue;
          const writer = target === undefined ? living.find(({ leads }) => leads) : living[target];
          if (writer === undefined) continue;
          if (kind === 'pause') {
            writer.candidate.clock.pause();
            later(now + ticks, () => writer.resume());
          } else if (kind === 'deaf') {
            deaf.add(writer.candidate.identity);
            later(now + ticks, () => void deaf.delete(writer.candidate.identity));
          } else if (kind === 'touch') {
            const patch = { metadata: { annotations: { seen: String(now) } } };
            void admin.patch(path, 'merge', patch, { lane: 'lease' }).catch(() => undefined);
          } else if (kind === 'delete') {
            void admin.delete(path, undefined, { lane: 'lease' }).catch(() => undefined);
          } else {
            void writer.stop(kind);
          }
        }
        for (const action of due.get(now) ?? []) action();
        await tick();
      }
      if (!hasDeletions) expect(writers, 'the writes of each process are contiguous').toEqual([...new Set(writers)]);
      isCalm = true;
      living.push(new Writer(create('fresh')));
      for (const writer of living) writer.resume();
      for (let now = 0; now < 160 && leaders() === 0; now++) await tick();
      expect(leaders()).toBe(1);
      await turn();
      const stopped = Promise.all(living.map((writer) => writer.stop('drain')));
      for (let now = 0; now < 160; now++) await tick();
      await stopped;
      server.close();
    }),
    { numRuns: 100 },
  );
});
