import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { EmbeddedApiServer } from '../plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../plane/apiserver/in-process-transport.ts';
import { statusAnswer } from '../../test/planes/api-proxy.ts';
import type { Logger } from '../observability/logger.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { KubeClient } from './kube-client.ts';
import type { CallOptions } from './kube-client.ts';
import { LeaderElector } from './leader-elector.ts';
import { Candidate, usualTimes } from './testing/candidate.ts';
import type { CandidateOptions } from './testing/candidate.ts';
import type { Transport, TransportRequest } from './transport.ts';
import { WriteFence } from './write-fence.ts';

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

/** Runs everything that needs no time to pass. */
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

/** Returns a logger that records its warnings. */
function recordingLogger(): { readonly warnings: unknown[]; readonly logger: Logger } {
  const warnings: unknown[] = [];
  return { warnings, logger: { ...silentLogger, warn: (message, fields) => warnings.push({ message, ...fields }) } };
}

/** Returns a transport with the given answers, and the server's otherwise. */
function intercepted(answer: (request: TransportRequest) => ReturnType<Transport['send']> | undefined): Transport {
  return {
    send: (request, signal) => answer(request) ?? transport.send(request, signal),
    close: () => Promise.resolve(),
  };
}

describe('a candidate', () => {
  it('creates a missing Lease, and renews it', async () => {
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

  it('takes a Lease without a holder, and keeps its other fields', async () => {
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

  it('waits until the holder was silent for its lease duration', async () => {
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

  it('counts from when it first saw the Lease, and ignores the renewTime', async () => {
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

  it('does not take an edit by others for a sign of life', async () => {
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

  it('takes a released Lease at once, without waiting for the retry period', async () => {
    const a = await start('a');
    await start('b');
    await pass(10_000);
    await a.elector.stop();
    await settle();
    await pass(100, 20);
    expect(leads()).toEqual(['b']);
    expect(await lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('sees a release at its next attempt if it may not watch', async () => {
    const forbids = intercepted(({ connection }) =>
      connection === 'watch' ? Promise.resolve(statusAnswer(403, 'Forbidden', 'no')) : undefined,
    );
    const a = await start('a');
    await start('b', { server: forbids });
    await pass(9_000);
    await a.elector.stop();
    await pass(2_000);
    expect(leads()).toEqual(['b']);
  });

  it('creates a deleted Lease only when it could have taken it from its holder', async () => {
    const a = await start('a');
    await start('b');
    a.clock.pause();
    await admin.delete(path);
    await pass(14_000);
    await expect(admin.get(path)).rejects.toThrow('not found');
    await pass(2_000);
    expect(leads()).toEqual(['b']);
  });

  it('retries forever when the server fails or rejects', async () => {
    let isBroken = true;
    const failing = intercepted(({ connection }) =>
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

  it('logs once why it cannot acquire the Lease', async () => {
    const { warnings, logger } = recordingLogger();
    let rejected = true;
    const rejecting = intercepted(({ connection, method }) => {
      if (connection !== 'lease' || !rejected) return undefined;
      return method === 'GET' ? Promise.resolve(statusAnswer(500, 'InternalError', 'etcd is down')) : undefined;
    });
    await start('a', { server: rejecting, logger });
    await pass(20_000);
    expect(warnings).toEqual([
      {
        message: 'cannot read or acquire the Lease',
        lease: 'kube-system/tutti',
        error: expect.stringContaining('etcd is down') as string,
      },
    ]);
    rejected = false;
    await pass(3_000);
    expect(leads()).toEqual(['a']);
  });

  it('reports a missing namespace', async () => {
    const { warnings, logger } = recordingLogger();
    const missing = intercepted(({ connection }) =>
      connection === 'lease'
        ? Promise.resolve(statusAnswer(404, 'NotFound', 'namespaces "kube-system" not found'))
        : undefined,
    );
    await start('a', { server: missing, logger });
    await pass(10_000);
    expect(warnings).toEqual([
      {
        message: 'cannot read or acquire the Lease',
        lease: 'kube-system/tutti',
        error: expect.stringMatching(/namespaces "kube-system" not found.*--leader-elect-resource-namespace/) as string,
      },
    ]);
  });

  it('reports the result of its first attempt', async () => {
    const a = candidate('a');
    const b = candidate('b');
    const c = candidate('c');
    a.elector.start();
    expect(await a.elector.tried()).toBe(true);
    expect(a.elector.isLeading).toBe(true);
    b.elector.start();
    expect(await b.elector.tried()).toBe(false);
    await c.elector.stop();
    expect(await c.elector.tried()).toBe(false);
  });

  it('stops waiting for a slow first attempt, and leads once it succeeds', async () => {
    let go: () => void = () => undefined;
    const gone = new Promise<undefined>((resolve) => (go = () => resolve(undefined)));
    const slow = intercepted((request) => gone.then(() => transport.send(request, new AbortController().signal)));
    const a = await start('a', { server: slow });
    let tried: boolean | undefined;
    void a.elector.tried().then((leads) => (tried = leads));
    await pass(499, 499);
    expect(tried).toBeUndefined();
    await pass(1);
    expect(tried).toBe(false);
    expect(a.elector.isLeading).toBe(false);
    go();
    await a.elector.elected();
    expect(a.elector.isLeading).toBe(true);
  });

  it.each([
    ['no process', undefined],
    ['another process', { holderIdentity: 'x', leaseDurationSeconds: 15 }],
  ])(
    'of a Lease that %s holds stops at any moment without delay, and does not leave the Lease held',
    async (_, spec) => {
      const collection = path.slice(0, path.lastIndexOf('/'));
      const late: number[] = [];
      for (let moment = 0; moment < 60; moment++) {
        if (spec !== undefined) await admin.delete(path).catch(() => undefined);
        if (spec !== undefined) await admin.create(collection, { metadata: { name: 'tutti' }, spec });
        const one = candidate(`candidate-${moment}`);
        one.elector.start();
        for (let turns = 0; turns < moment; turns++) await Promise.resolve();
        let isStopped = false;
        void one.elector.stop().then(() => (isStopped = true));
        await settle();
        if (!isStopped) late.push(moment);
        expect(one.fence.isOpen).toBe(false);
        const left = await lease().catch(() => undefined);
        expect(left?.holderIdentity ?? '').toBe(spec?.holderIdentity ?? '');
        await pass(3_000);
      }
      expect(late).toEqual([]);
    },
  );

  it('loses the Lease if its process paused during the election', async () => {
    let time = 0;
    const slow: Clock = {
      now: () => clock.now(),
      monotonic: () => (time += 4_000), // time between two steps
      setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
    };
    const elector = new LeaderElector({
      ...usualTimes,
      client: admin,
      clock: slow,
      random: () => 0,
      logger: silentLogger,
      identity: 'a',
      namespace: 'kube-system',
      name: 'tutti',
      fence: new WriteFence(slow),
    });
    elector.start();
    const lost = elector.lost();
    await pass(10_000);
    await expect(Promise.race([lost, Promise.resolve('goes on')])).resolves.toMatchObject({ name: 'NotLeadingError' });
    await elector.stop();
  });

  it('rejects elected() if it is stopped before it leads', async () => {
    await start('a');
    const b = await start('b');
    const elected = expect(b.elector.elected()).rejects.toThrow('stopped');
    await b.elector.stop();
    await elected;
    expect((await lease()).holderIdentity).toBe('a');
  });
});

describe('a leader', () => {
  it('whose renewals hang stops leading at the deadline, counted from the start of the last successful one', async () => {
    let hangs = false;
    const silent = intercepted(({ connection }) =>
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
      message: 'the Lease was not renewed in time',
    });
  });

  it('survives failures for less than the deadline', async () => {
    let fails = false;
    const failing = intercepted(({ connection }) =>
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

  it('keeps leading when the Lease is edited or deleted', async () => {
    await start('a');
    await pass(3_000);
    await admin.patch(path, 'merge', { metadata: { annotations: { seen: 'yes' } } });
    await pass(4_000);
    await admin.delete(path);
    await pass(4_000);
    expect(leads()).toEqual(['a']);
    expect((await lease()).holderIdentity).toBe('a');
  });

  it('stops leading at once when another process is written into the Lease', async () => {
    const a = await start('a');
    await admin.patch(path, 'merge', { spec: { holderIdentity: 'intruder' } });
    await pass(2_000);
    await expect(a.elector.lost()).resolves.toMatchObject({ message: 'intruder took the Lease' });
    expect(leads()).toEqual([]);
    await a.elector.stop();
    expect((await lease()).holderIdentity).toBe('intruder');
  });

  it('releases the Lease when stopped during a renewal', async () => {
    let holdsUp = false;
    const slow = intercepted((request) => {
      if (!holdsUp || request.method !== 'PUT') return undefined;
      holdsUp = false;
      void transport.send(request); // the request arrives, but its response is lost
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

  it('leaves the Lease to expire if a task of this process did not stop', async () => {
    const a = await start('a');
    await a.elector.stop({ isIdle: false });
    expect((await lease()).holderIdentity).toBe('a');
    expect(() => a.fence.check()).toThrow('stopped leading');
  });

  it('releases the Lease only once, even if stopped repeatedly', async () => {
    const puts: string[] = [];
    const a = await start('a', {
      server: intercepted(({ method }) => {
        puts.push(method);
        return undefined;
      }),
    });
    puts.length = 0;
    await Promise.all([a.elector.stop(), a.elector.stop()]);
    await a.elector.stop();
    a.elector.start();
    await pass(20_000);
    expect(puts).toEqual(['GET', 'PUT']);
    expect((await lease()).holderIdentity).toBe('');
  });

  describe('when a bind got no response', () => {
    const bind = (one: Candidate, options: CallOptions = {}): Promise<unknown> =>
      one.client
        .create('/api/v1/namespaces/default/pods/p/binding', {}, { lane: 'bind', ...options })
        .catch((error: unknown) => (error as Error).name);
    let isDeaf: boolean;
    const hanging = intercepted(({ path: requested, connection }) => {
      if (requested.endsWith('/binding')) return new Promise(() => undefined);
      return isDeaf && connection === 'lease' ? Promise.resolve(statusAnswer(500, 'InternalError', 'no')) : undefined;
    });
    let a: Candidate;

    beforeEach(async () => {
      isDeaf = false;
      a = await start('a', { server: hanging });
    });

    it('because it was cut off, leaves the Lease to expire', async () => {
      const cut = new AbortController();
      const bound = bind(a, { signal: cut.signal });
      cut.abort(new Error('stopping'));
      await bound;
      await a.elector.stop();
      expect((await lease()).holderIdentity).toBe('a');
      expect(leads()).toEqual([]);
    });

    it('before it lost the election, leaves the Lease to expire', async () => {
      isDeaf = true;
      await pass(8_000);
      const bound = bind(a);
      await pass(4_000);
      expect(await bound).toBe('NotLeadingError');
      isDeaf = false;
      await a.elector.stop();
      expect((await lease()).holderIdentity).toBe('a');
    });

    it('longer ago than the lease duration, releases the Lease', async () => {
      const bound = bind(a, { timeoutMs: 1_000 });
      await pass(1_000);
      expect(await bound).toBe('TimeoutError');
      expect(a.fence.hasBindInDoubt(15_000)).toBe(true);
      await pass(15_000);
      await a.elector.stop();
      expect((await lease()).holderIdentity).toBe('');
    });
  });

  it('releases the Lease when its binds got a response, even a rejection', async () => {
    const a = await start('a');
    const bind = a.client.create('/api/v1/namespaces/default/pods/p/binding', {}, { lane: 'bind' });
    await expect(bind).rejects.toThrow();
    await a.elector.stop();
    expect((await lease()).holderIdentity).toBe('');
  });
});

describe('writes', () => {
  const create = (one: Candidate): Promise<unknown> =>
    one.client.create('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'c-' } });

  it('are rejected before the election and after the deadline, unlike reads', async () => {
    const a = candidate('a');
    await expect(create(a)).rejects.toMatchObject({ name: 'NotLeadingError', message: 'not the leader yet' });
    a.elector.start();
    await a.elector.elected();
    await create(a);
    a.clock.pause();
    clock.advance(10_000);
    await expect(create(a)).rejects.toMatchObject({ message: 'the Lease was not renewed in time' });
    a.clock.resume();
    await a.client.get('/api/v1/nodes');
  });

  it('in flight are cut off when this process stops leading', async () => {
    const hanging = intercepted(({ method }) => (method === 'DELETE' ? new Promise(() => undefined) : undefined));
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
