import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  MalformedAnswerError,
  NotFoundError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
} from '../../client/api-errors.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../client/transport.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { ApiPodBinder } from './api-pod-binder.ts';
import { BoundElsewhereError } from './bind-read-back.ts';

/**
 * What happens to one call:
 * - it is answered;
 * - the connection is lost before or after the call takes effect;
 * - it gets no response, or a truncated one;
 * - the server responds with an error status, and the call has no effect.
 */
type Fate = 'answered' | 'lostBefore' | 'lostAfter' | 'silent' | 'truncated' | 403 | 409 | 429 | 500 | 503;

const binding: PodBinding = {
  namespace: 'default',
  name: 'red-0',
  uid: 'ours',
  nodeName: 'a',
  annotations: { plan: 'p1' },
};

/** An API server with one pod, behind a faulty connection. */
class OnePodServer implements Transport {
  uid: string | undefined = 'ours';
  nodeName = '';
  readonly calls: string[] = [];
  readonly bodies: unknown[] = [];
  readonly #fates: Fate[];

  constructor(fates: readonly Fate[] = []) {
    this.#fates = [...fates];
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    const { method, path, body } = request;
    this.calls.push(method);
    expect(path).toBe(`/api/v1/namespaces/default/pods/red-0${method === 'POST' ? '/binding' : ''}`);
    const fate = this.#fates.shift() ?? 'answered';
    if (fate === 'lostBefore') throw reset();
    if (typeof fate === 'number') return respond(fate, { kind: 'Status', code: fate, message: 'not now' });
    const answered =
      method === 'POST' ? this.#bind(JSON.parse(body as string) as typeof this.lastBinding) : this.#read();
    if (fate === 'lostAfter') throw reset();
    if (fate === 'truncated') return { ...answered, body: bytes('{"kind":') };
    if (fate === 'silent') {
      await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    }
    return answered;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  lastBinding: { metadata: { uid: string }; target: { name: string } } | undefined;

  #bind(body: typeof this.lastBinding): TransportResponse {
    this.lastBinding = body;
    this.bodies.push(body);
    if (this.uid === undefined) return this.#notFound();
    if (body!.metadata.uid !== this.uid) return conflict('the UID in the precondition does not match');
    if (this.nodeName !== '') return conflict(`pod red-0 is already assigned to node "${this.nodeName}"`);
    this.nodeName = body!.target.name;
    return respond(201, { kind: 'Status', status: 'Success' });
  }

  #read(): TransportResponse {
    if (this.uid === undefined) return this.#notFound();
    return respond(200, { metadata: { uid: this.uid }, spec: this.nodeName === '' ? {} : { nodeName: this.nodeName } });
  }

  #notFound(): TransportResponse {
    return respond(404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'pods "red-0" not found' });
  }
}

function reset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

function conflict(message: string): TransportResponse {
  return respond(409, { kind: 'Status', code: 409, reason: 'Conflict', message });
}

function respond(status: number, body: object): TransportResponse {
  return { status, headers: {}, body: bytes(JSON.stringify(body)) };
}

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text));
}

/** Binds the pod; the clock advances when nothing else can happen. Resolves to the error, or undefined if the binding succeeded. */
async function bind(pod: OnePodServer, signal = new AbortController().signal): Promise<unknown> {
  const clock = new VirtualClock();
  const binder = new ApiPodBinder({
    client: new KubeClient({ transport: pod, clock }),
    clock,
    random: seededRandom(1),
    logger: silentLogger,
  });
  let outcome: { readonly error: unknown } | undefined;
  void binder.bind(binding, signal).then(
    () => (outcome = { error: undefined }),
    (error: unknown) => (outcome = { error }),
  );
  for (let i = 0; i < 1000 && outcome === undefined; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    const next = clock.untilNextTimer();
    if (outcome === undefined && next !== undefined) clock.advance(next);
  }
  if (outcome === undefined) throw new Error('binding never ended');
  return outcome.error;
}

describe('ApiPodBinder', () => {
  it('sends one call, with the uid and the annotations of the pod', async () => {
    const pod = new OnePodServer();
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST']);
    expect(pod.bodies[0]).toEqual({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace: 'default', name: 'red-0', uid: 'ours', annotations: { plan: 'p1' } },
      target: { apiVersion: 'v1', kind: 'Node', name: 'a' },
    });
  });

  it.each<[string, Fate]>([
    ['lost after the call took effect', 'lostAfter'],
    ['too late', 'silent'],
    ['truncated', 'truncated'],
  ])('reads the pod back if the response is %s, and succeeds', async (_name, fate) => {
    const pod = new OnePodServer([fate]);
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'GET']);
  });

  it.each<[string, Fate]>([
    ['the connection was lost', 'lostBefore'],
    ['the server failed', 500],
  ])('sends the call again after a read if it had no effect because %s', async (_name, fate) => {
    const pod = new OnePodServer([fate]);
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'GET', 'POST']);
    expect(pod.nodeName).toBe('a');
  });

  it('retries without a read if the server is too busy', async () => {
    const pod = new OnePodServer([429, 429]);
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'POST', 'POST']);
  });

  it('does not retry a rejected call', async () => {
    const pod = new OnePodServer([403]);
    expect(await bind(pod)).toBeInstanceOf(ForbiddenError);
    expect(pod.calls).toEqual(['POST']);
  });

  it('succeeds if the pod is already bound to the node', async () => {
    const pod = new OnePodServer();
    pod.nodeName = 'a';
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'GET']);
  });

  it('reports the node if the pod is bound to another one', async () => {
    const pod = new OnePodServer();
    pod.nodeName = 'b';
    expect(await bind(pod)).toEqual(new BoundElsewhereError('pod default/red-0 is already bound to node b'));
  });

  it('reports that the pod was recreated', async () => {
    const pod = new OnePodServer();
    pod.uid = 'another';
    expect(await bind(pod)).toEqual(new BoundElsewhereError('pod default/red-0 was deleted and recreated'));
    expect(pod.nodeName).toBe('');
  });

  it('fails with NotFoundError if the pod is gone', async () => {
    const pod = new OnePodServer();
    pod.uid = undefined;
    expect(await bind(pod)).toBeInstanceOf(NotFoundError);
  });

  it('fails with the conflict if a read does not explain it', async () => {
    const pod = new OnePodServer();
    pod.send = (request) =>
      Promise.resolve(
        request.method === 'POST' ? conflict('unexplained') : respond(200, { metadata: { uid: 'ours' }, spec: {} }),
      );
    expect(await bind(pod)).toBeInstanceOf(ConflictError);
  });

  it('ends at once when the scheduler stops', async () => {
    const pod = new OnePodServer(['silent']);
    const stop = new AbortController();
    const ended = bind(pod, stop.signal);
    stop.abort(new Error('stopping'));
    expect(await ended).toEqual(new Error('stopping'));
  });

  it('reads again after an unexplained conflict, even if an earlier read was forbidden', async () => {
    const pod = new OnePodServer([500, 403, 409]);
    expect(await bind(pod)).toBeUndefined();
    expect([pod.nodeName, pod.calls]).toEqual(['a', ['POST', 'GET', 'POST', 'GET', 'POST']]);
  });

  it('never gives up a pod that may be bound while reads are forbidden', async () => {
    const fate = fc.constantFrom<Fate>('lostBefore', 'lostAfter', 'silent', 'truncated', 429, 500, 503, 403);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 8, size: 'max' }),
        fc.constantFrom('', 'b'),
        async (fates, nodeName) => {
          const pod = new OnePodServer(fates);
          pod.nodeName = nodeName;
          const send = pod.send.bind(pod);
          pod.send = (request, signal) =>
            request.method === 'GET'
              ? Promise.resolve(respond(403, { kind: 'Status', code: 403, message: 'no' }))
              : send(request, signal);
          const error = await bind(pod);
          if (error !== undefined) expect(pod.nodeName).not.toBe('a');
          else expect(pod.nodeName).not.toBe('');
        },
      ),
      { numRuns: 100 },
    );
  });

  it('never reports a wrong outcome, whatever happens on the connection', async () => {
    const fate = fc.constantFrom<Fate>(
      'answered',
      'lostBefore',
      'lostAfter',
      'silent',
      'truncated',
      409,
      429,
      500,
      503,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 6, size: 'max' }),
        fc.constantFrom('', 'b'),
        async (fates, nodeName) => {
          const pod = new OnePodServer(fates);
          pod.nodeName = nodeName;
          const error = await bind(pod);
          if (error === undefined) expect(pod.nodeName).toBe('a');
          else if (error instanceof BoundElsewhereError) expect(pod.nodeName).toBe('b');
          else {
            const ofConnection = [ConnectionError, TimeoutError, MalformedAnswerError];
            const causes = [...ofConnection, ConflictError, ServerError, TooManyRequestsError];
            expect(causes.filter((cause) => error instanceof cause)).toHaveLength(1);
            // The pod is bound after all only if the last read failed as well.
            if (pod.nodeName === 'a') expect(pod.calls.at(-1)).toBe('GET');
          }
          expect(pod.nodeName === 'b').toBe(nodeName === 'b');
        },
      ),
      { numRuns: 100 },
    );
  });
});
