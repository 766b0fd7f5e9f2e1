import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { EmbeddedApiServer } from '../embedded/embedded-api-server.ts';
import { InProcessTransport } from '../embedded/in-process-transport.ts';
import { statusAnswer } from '../../test/planes/api-proxy.ts';
import { KubeClient } from './kube-client.ts';
import { Candidate } from './testing/candidate.ts';
import type { CandidateOptions } from './testing/candidate.ts';
import type { Transport, TransportRequest } from './transport.ts';

const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/tutti';

interface Spec {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly leaseTransitions: number;
  readonly acquireTime: string;
  readonly renewTime: string;
}

let clock: VirtualClock;
let server: EmbeddedApiServer;
let transport: InProcessTransport;
let candidates: Candidate[];
let admin: KubeClient;

beforeEach(() => {
  clock = new VirtualClock();
  server = new EmbeddedApiServer({ clock, random: seededRandom(1) });
  transport = new InProcessTransport(server);
  candidates = [];
  admin = new KubeClient({ transport, clock });
});

afterEach(async () => {
  for (const one of candidates) one.clock.resume();
  const stopped = Promise.all(candidates.map(({ elector }) => elector.stop()));
  await pass(3_000); // a release may hang
  await stopped;
  server.close();
});

function candidate(identity: string, options: Partial<CandidateOptions> = {}): Candidate {
  const one = new Candidate({ identity, clock, random: () => 0, server: transport, ...options });
  candidates.push(one);
  return one;
}

/** Everything that needs no time happens. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(ms: number, stepMs = 500): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed));
    await settle();
  }
}

async function start(identity: string, options: Partial<CandidateOptions> = {}): Promise<Candidate> {
  const one = candidate(identity, options);
  one.elector.start();
  await settle();
  return one;
}

async function lease(): Promise<Spec> {
  return (await admin.get<{ readonly spec: Spec }>(path)).spec;
}

const leads = (): string[] => candidates.filter(({ fence }) => fence.isOpen).map(({ identity }) => identity);

/** A server that answers as it is told, and otherwise as it would. */
function meddled(answer: (request: TransportRequest) => ReturnType<Transport['send']> | undefined): Transport {
  return {
    send: (request, signal) => answer(request) ?? transport.send(request, signal),
    close: () => Promise.resolve(),
  };
}

describe('a candidate', () => {
  it('creates the Lease that is not there, and renews it', async () => {
    const a = await start('a');
    await a.elector.elected();
    const first = await lease();
    expect(first).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(a.elector.isLeading).toBe(true);
    await pass(20_000);
    const later = await lease();
    expect(later).toMatchObject({ holderIdentity: 'a', acquireTime: first.acquireTime, leaseTransitions: 0 });
    expect(Date.parse(later.renewTime) - Date.parse(first.renewTime)).toBe(20_000);
    expect(leads()).toEqual(['a']);
  });

  it('takes a Lease that nobody holds, and keeps what else is in it', async () => {
    await admin.create('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
      metadata: { name: 'tutti', labels: { kept: 'yes' } },
      spec: { holderIdentity: '', leaseTransitions: 4 },
    });
    await start('a');
    expect(leads()).toEqual(['a']);
    expect(await lease()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 5 });
    const { metadata } = await admin.get<{ readonly metadata: { readonly labels: object } }>(path);
    expect(metadata.labels).toEqual({ kept: 'yes' });
  });

  it('waits as long as the holder shows signs of life, and for its lease duration after the last', async () => {
    const a = await start('a');
    const b = await start('b');
    await pass(60_000);
    expect(leads()).toEqual(['a']);
    expect(b.elector.holder).toBe('a');
    a.clock.pause(); // as if it had been killed
    const lastSign = Date.parse((await lease()).renewTime) - clock.now();
    await pass(15_000 + lastSign - 500);
    expect((await lease()).holderIdentity).toBe('a');
    await pass(1_000);
    expect(leads()).toEqual(['b']);
    expect(await lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('counts from when it first saw the Lease, whatever time stands in it', async () => {
    await admin.create('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
      metadata: { name: 'tutti' },
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 6, renewTime: '2001-01-01T00:00:00.000000Z' },
    });
    await start('a');
    await pass(5_500);
    expect(leads()).toEqual([]);
    await pass(500);
    expect(leads()).toEqual(['a']);
  });

  it('does not take a touch by others for a sign of life', async () => {
    const a = await start('a');
    await start('b');
    a.clock.pause();
    for (let seconds = 0; seconds < 15; seconds++) {
      await admin.patch(path, 'merge', { metadata: { annotations: { seen: String(seconds) } } });
      await pass(1_000);
    }
    await pass(2_000);
    expect(leads()).toEqual(['b']);
  });

  it('takes a released Lease at once, without waiting to ask', async () => {
    const a = await start('a');
    await start('b');
    await pass(10_000);
    await a.elector.stop();
    await settle();
    await pass(100, 20);
    expect(leads()).toEqual(['b']);
    expect(await lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('without the right to watch sees a release when it asks again', async () => {
    const forbids = meddled(({ connection }) =>
      connection === 'watch' ? Promise.resolve(statusAnswer(403, 'Forbidden', 'no')) : undefined,
    );
    const a = await start('a');
    await start('b', { server: forbids });
    await pass(9_000);
    await a.elector.stop();
    await pass(2_000);
    expect(leads()).toEqual(['b']);
  });

  it('does not create a Lease that it saw held, before it could have taken it', async () => {
    const a = await start('a');
    await start('b');
    a.clock.pause();
    await admin.delete(path);
    await pass(14_000);
    await expect(admin.get(path)).rejects.toThrow('not found');
    await pass(2_000);
    expect(leads()).toEqual(['b']);
  });

  it('tries again for ever when the server fails or refuses', async () => {
    let isBroken = true;
    const failing = meddled(({ connection }) =>
      isBroken && connection === 'lease' ? Promise.resolve(statusAnswer(403, 'Forbidden', 'no')) : undefined,
    );
    const a = await start('a', { server: failing });
    await pass(30_000);
    expect(leads()).toEqual([]);
    isBroken = false;
    await pass(2_500);
    expect(leads()).toEqual(['a']);
    expect(a.elector.isLeading).toBe(true);
  });

  it('that is stopped before it leads rejects whoever waits', async () => {
    await start('a');
    const b = await start('b');
    const elected = expect(b.elector.elected()).rejects.toThrow('stopped');
    await b.elector.stop();
    await elected;
    expect((await lease()).holderIdentity).toBe('a');
  });
});

describe('a leader', () => {
  it('whose renewals hang gives up at the deadline, counted from the last that it began with success', async () => {
    let hangs = false;
    const silent = meddled(({ connection }) =>
      hangs && connection === 'lease' ? new Promise(() => undefined) : undefined,
    );
    const a = await start('a', { server: silent });
    await pass(2_000);
    hangs = true;
    await pass(9_500);
    expect(leads()).toEqual(['a']);
    await pass(500);
    expect(leads()).toEqual([]);
    await expect(a.elector.lost()).resolves.toMatchObject({
      name: 'NotLeadingError',
      message: 'the Lease could not be renewed in time',
    });
  });

  it('survives a time of failures that is shorter than the deadline', async () => {
    let fails = false;
    const failing = meddled(({ connection }) =>
      fails && connection === 'lease' ? Promise.resolve(statusAnswer(500, 'InternalError', 'broken')) : undefined,
    );
    await start('a', { server: failing });
    await start('b');
    await pass(4_000);
    fails = true;
    await pass(7_000);
    fails = false;
    await pass(20_000);
    expect(leads()).toEqual(['a']);
  });

  it('goes on when somebody touches the Lease, or deletes it', async () => {
    await start('a');
    await pass(3_000);
    await admin.patch(path, 'merge', { metadata: { annotations: { seen: 'yes' } } });
    await pass(4_000);
    await admin.delete(path);
    await pass(4_000);
    expect(leads()).toEqual(['a']);
    expect((await lease()).holderIdentity).toBe('a');
  });

  it('ends at once when somebody else has written himself in', async () => {
    const a = await start('a');
    await admin.patch(path, 'merge', { spec: { holderIdentity: 'intruder' } });
    await pass(2_000);
    await expect(a.elector.lost()).resolves.toMatchObject({ message: 'intruder took the Lease' });
    expect(leads()).toEqual([]);
    await a.elector.stop();
    expect((await lease()).holderIdentity).toBe('intruder');
  });

  it('releases when it is stopped, though a renewal was under way', async () => {
    let holdsUp = false;
    const slow = meddled((request) => {
      if (!holdsUp || request.method !== 'PUT') return undefined;
      holdsUp = false;
      void transport.send(request); // it arrives, and its answer is lost
      return new Promise(() => undefined);
    });
    const a = await start('a', { server: slow });
    holdsUp = true;
    await pass(2_000);
    await a.elector.stop();
    expect(await lease()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(leads()).toEqual([]);
    expect(() => a.fence.check()).toThrow('stopped leading');
  });

  it('leaves the Lease to expire when a bind was cut that may still arrive', async () => {
    const hanging = meddled(({ path: asked }) =>
      asked.endsWith('/binding') ? new Promise(() => undefined) : undefined,
    );
    const a = await start('a', { server: hanging });
    const cut = new AbortController();
    const call = { lane: 'bind', signal: cut.signal } as const;
    const bind = a.client.create('/api/v1/namespaces/default/pods/p/binding', {}, call);
    cut.abort(new Error('stopping'));
    await expect(bind).rejects.toThrow('stopping');
    await a.elector.stop();
    expect((await lease()).holderIdentity).toBe('a');
    expect(leads()).toEqual([]);
  });
});

describe('writes', () => {
  const create = (one: Candidate): Promise<unknown> =>
    one.client.create('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'c-' } });

  it('are refused before the election and after the deadline; reads are not', async () => {
    const a = candidate('a');
    await expect(create(a)).rejects.toMatchObject({ name: 'NotLeadingError', message: 'not the leader yet' });
    a.elector.start();
    await a.elector.elected();
    await create(a);
    a.clock.pause();
    clock.advance(10_000);
    await expect(create(a)).rejects.toMatchObject({ message: 'the Lease could not be renewed in time' });
    a.clock.resume();
    await a.client.get('/api/v1/nodes');
  });

  it('that are under way when leading ends are cut', async () => {
    const hanging = meddled(({ method }) => (method === 'DELETE' ? new Promise(() => undefined) : undefined));
    const a = await start('a', { server: hanging });
    const deletion = expect(a.client.delete('/api/v1/nodes/n')).rejects.toMatchObject({
      name: 'NotLeadingError',
      message: 'intruder took the Lease',
    });
    await admin.patch(path, 'merge', { spec: { holderIdentity: 'intruder' } });
    await pass(2_000);
    await deletion;
  });
});
