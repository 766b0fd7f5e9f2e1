import { describe, expect, it } from 'vitest';
import { deferred } from '../../base/deferred.ts';
import type { Deferred } from '../../base/deferred.ts';
import { seededRandom } from '../../base/random.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ConnectionError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { ApiPodBinder } from './api-pod-binder.ts';

/** Maximum number of first Bindings in progress. */
const maxConcurrent = 64;

/** A server whose responses the test controls. */
class SlowServer {
  /** Names of pods, in the order in which their Bindings were sent. */
  readonly sent: string[] = [];
  readonly responses: Deferred<void>[] = [];
  readonly client = {
    create: (path: string, _body: unknown, { signal }: { readonly signal: AbortSignal }) => {
      const response = deferred();
      this.sent.push(path.split('/').at(-2)!);
      this.responses.push(response);
      signal.addEventListener('abort', () => response.reject(signal.reason as Error));
      return response.promise;
    },
    get: () => new Promise(() => undefined),
  } as unknown as Pick<KubeClient, 'create' | 'get'>;
}

function bindAll(
  server: SlowServer,
  count: number,
): {
  readonly ends: Promise<void>[];
  readonly stop: AbortController;
  readonly bind: (name: string, signal: AbortSignal) => Promise<void>;
} {
  const random = seededRandom(1);
  const binder = new ApiPodBinder({
    client: server.client,
    clock: new VirtualClock(),
    random,
    logger: silentLogger,
  });
  const stop = new AbortController();
  const bind = (name: string, signal: AbortSignal): Promise<void> =>
    binder.bind({ namespace: 'default', name, uid: name, nodeName: 'a', annotations: {} }, signal);
  const ends = names(count).map((name) => bind(name, stop.signal));
  return { ends, stop, bind };
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `pod-${i}`);
}

describe('many concurrent bindings', () => {
  it('are sent in order, a limited number at a time', async () => {
    const server = new SlowServer();
    const { ends } = bindAll(server, 200);
    await settle();
    expect(server.sent).toEqual(names(maxConcurrent));
    server.responses[3]!.resolve();
    await settle();
    expect(server.sent).toEqual(names(maxConcurrent + 1));
    for (let i = 0; i < 200; i++) {
      server.responses[i]!.resolve();
      await settle();
    }
    await Promise.all(ends);
    expect(server.sent).toEqual(names(200));
  });

  it('do not wait for pods whose Binding has failed and that are being read back', async () => {
    const server = new SlowServer();
    bindAll(server, 100);
    await settle();
    const lost = new ConnectionError('lost', { ambiguous: true, cause: undefined });
    for (let i = 0; i < 20; i++) server.responses[i]!.reject(lost);
    await settle();
    expect(server.sent).toEqual(names(maxConcurrent + 20));
  });

  it('all end when the scheduler stops, and waiting ones are never sent', async () => {
    const server = new SlowServer();
    const { ends, stop } = bindAll(server, 200);
    await settle();
    stop.abort(new Error('stopping'));
    const outcomes = await Promise.allSettled(ends);
    expect(new Set(outcomes.map((outcome) => String(outcome.status === 'rejected' && outcome.reason)))).toEqual(
      new Set(['Error: stopping']),
    );
    expect(server.sent).toEqual(names(maxConcurrent));
  });

  it('end at once when their own signal aborts while they wait, and do not block others', async () => {
    const server = new SlowServer();
    const { ends, bind } = bindAll(server, maxConcurrent);
    const own = new AbortController();
    const given = bind('given-up', own.signal);
    const next = bind('next', new AbortController().signal);
    await settle();
    own.abort(new Error('no longer'));
    await expect(given).rejects.toThrow('no longer');
    await expect(bind('too-late', own.signal)).rejects.toThrow('no longer');
    expect(server.sent).toEqual(names(maxConcurrent));
    server.responses[0]!.resolve();
    await ends[0];
    await settle();
    expect(server.sent).toEqual([...names(maxConcurrent), 'next']);
    for (const response of server.responses) response.resolve();
    await Promise.all([...ends, next]);
  });
});
