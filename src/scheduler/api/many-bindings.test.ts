import { describe, expect, it } from 'vitest';
import { deferred } from '../../base/deferred.ts';
import type { Deferred } from '../../base/deferred.ts';
import { seededRandom } from '../../base/random.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConnectionError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { ApiPodBinder } from './api-pod-binder.ts';

/** How many first Bindings are under way at a time. */
const atATime = 64;

/** A server that answers when the test says so. */
class SlowServer {
  /** Names of pods, in the order in which their Bindings were sent. */
  readonly sent: string[] = [];
  readonly answers: Deferred<void>[] = [];
  readonly client = {
    create: (path: string, _body: unknown, { signal }: { readonly signal: AbortSignal }) => {
      const answer = deferred();
      this.sent.push(path.split('/').at(-2)!);
      this.answers.push(answer);
      signal.addEventListener('abort', () => answer.reject(signal.reason as Error));
      return answer.promise;
    },
    get: () => new Promise(() => undefined),
  } as unknown as Pick<KubeClient, 'create' | 'get'>;
}

function bindAll(
  server: SlowServer,
  count: number,
): {
  readonly ends: Promise<void>[];
  readonly cut: AbortController;
  readonly bind: (name: string, signal: AbortSignal) => Promise<void>;
} {
  const random = seededRandom(1);
  const binder = new ApiPodBinder({
    client: server.client,
    clock: new VirtualClock(),
    random,
    logger: silentLogger,
  });
  const cut = new AbortController();
  const bind = (name: string, signal: AbortSignal): Promise<void> =>
    binder.bind({ namespace: 'default', name, uid: name, nodeName: 'a', annotations: {} }, signal);
  const ends = names(count).map((name) => bind(name, cut.signal));
  return { ends, cut, bind };
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `pod-${i}`);
}

describe('many pods that are bound at the same time', () => {
  it('are sent in their order, so many at a time, and all of them in the end', async () => {
    const server = new SlowServer();
    const { ends } = bindAll(server, 200);
    await settle();
    expect(server.sent).toEqual(names(atATime));
    server.answers[3]!.resolve();
    await settle();
    expect(server.sent).toEqual(names(atATime + 1));
    for (let i = 0; i < 200; i++) {
      server.answers[i]!.resolve();
      await settle();
    }
    await Promise.all(ends);
    expect(server.sent).toEqual(names(200));
  });

  it('do not wait for those whose Binding has failed and that are looked at or waited for', async () => {
    const server = new SlowServer();
    bindAll(server, 100);
    await settle();
    const lost = new ConnectionError('lost', { ambiguous: true, cause: undefined });
    for (let i = 0; i < 20; i++) server.answers[i]!.reject(lost);
    await settle();
    expect(server.sent).toEqual(names(atATime + 20));
  });

  it('all end when the scheduler stops, and of those that waited nothing is sent', async () => {
    const server = new SlowServer();
    const { ends, cut } = bindAll(server, 200);
    await settle();
    cut.abort(new Error('stopping'));
    const outcomes = await Promise.allSettled(ends);
    expect(new Set(outcomes.map((outcome) => String(outcome.status === 'rejected' && outcome.reason)))).toEqual(
      new Set(['Error: stopping']),
    );
    expect(server.sent).toEqual(names(atATime));
  });

  it('end at once when they wait under a signal of their own and that aborts, and keep nobody from going', async () => {
    const server = new SlowServer();
    const { ends, bind } = bindAll(server, atATime);
    const own = new AbortController();
    const given = bind('given-up', own.signal);
    const next = bind('next', new AbortController().signal);
    await settle();
    own.abort(new Error('no longer'));
    await expect(given).rejects.toThrow('no longer');
    await expect(bind('too-late', own.signal)).rejects.toThrow('no longer');
    expect(server.sent).toEqual(names(atATime));
    server.answers[0]!.resolve();
    await ends[0];
    await settle();
    expect(server.sent).toEqual([...names(atATime), 'next']);
    for (const answer of server.answers) answer.resolve();
    await Promise.all([...ends, next]);
  });
});
