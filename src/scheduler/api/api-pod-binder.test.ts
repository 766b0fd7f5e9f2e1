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
 * What happens to one call: it is answered; the connection is lost before or after it is carried out; it is never answered;
 * its answer is cut short; or the server answers with a status instead of carrying it out.
 */
type Fate = 'answered' | 'lostBefore' | 'lostAfter' | 'silent' | 'cutShort' | 403 | 409 | 429 | 500 | 503;

const binding: PodBinding = {
  namespace: 'default',
  name: 'red-0',
  uid: 'ours',
  nodeName: 'a',
  annotations: { plan: 'p1' },
};

/** An API server with one pod, over a line on which things go wrong. */
class OnePod implements Transport {
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
    if (typeof fate === 'number') return answer(fate, { kind: 'Status', code: fate, message: 'not now' });
    const answered =
      method === 'POST' ? this.#bind(JSON.parse(body as string) as typeof this.lastBinding) : this.#read();
    if (fate === 'lostAfter') throw reset();
    if (fate === 'cutShort') return { ...answered, body: bytes('{"kind":') };
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
    return answer(201, { kind: 'Status', status: 'Success' });
  }

  #read(): TransportResponse {
    if (this.uid === undefined) return this.#notFound();
    return answer(200, { metadata: { uid: this.uid }, spec: this.nodeName === '' ? {} : { nodeName: this.nodeName } });
  }

  #notFound(): TransportResponse {
    return answer(404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'pods "red-0" not found' });
  }
}

function reset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

function conflict(message: string): TransportResponse {
  return answer(409, { kind: 'Status', code: 409, reason: 'Conflict', message });
}

function answer(status: number, body: object): TransportResponse {
  return { status, headers: {}, body: bytes(JSON.stringify(body)) };
}

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text));
}

/** Binds, with time passing whenever nothing else goes on. What it rejected with; undefined when it resolved. */
async function bind(pod: OnePod, signal = new AbortController().signal): Promise<unknown> {
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

describe('binding a pod', () => {
  it('is one call, with the uid and the annotations that the pod gets', async () => {
    const pod = new OnePod();
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
    ['lost after the server carried the call out', 'lostAfter'],
    ['too late', 'silent'],
    ['cut short', 'cutShort'],
  ])('whose answer is %s is read back before anything else, and is a success', async (_name, fate) => {
    const pod = new OnePod([fate]);
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'GET']);
  });

  it.each<[string, Fate]>([
    ['the connection was lost before', 'lostBefore'],
    ['the server failed', 500],
  ])('that was not carried out because %s is done again after a look', async (_name, fate) => {
    const pod = new OnePod([fate]);
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'GET', 'POST']);
    expect(pod.nodeName).toBe('a');
  });

  it('that the server is too busy for is repeated without a look', async () => {
    const pod = new OnePod([429, 429]);
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'POST', 'POST']);
  });

  it('that is rejected is not repeated', async () => {
    const pod = new OnePod([403]);
    expect(await bind(pod)).toBeInstanceOf(ForbiddenError);
    expect(pod.calls).toEqual(['POST']);
  });

  it('to the node that it is on already is a success', async () => {
    const pod = new OnePod();
    pod.nodeName = 'a';
    expect(await bind(pod)).toBeUndefined();
    expect(pod.calls).toEqual(['POST', 'GET']);
  });

  it('that runs on another node says on which', async () => {
    const pod = new OnePod();
    pod.nodeName = 'b';
    expect(await bind(pod)).toEqual(new BoundElsewhereError('pod default/red-0 is already bound to node b'));
  });

  it('whose name another pod has by now says so', async () => {
    const pod = new OnePod();
    pod.uid = 'another';
    expect(await bind(pod)).toEqual(new BoundElsewhereError('pod default/red-0 was deleted and made again meanwhile'));
    expect(pod.nodeName).toBe('');
  });

  it('that is gone fails as not found', async () => {
    const pod = new OnePod();
    pod.uid = undefined;
    expect(await bind(pod)).toBeInstanceOf(NotFoundError);
  });

  it('fails with the conflict when nothing that can be seen explains it', async () => {
    const pod = new OnePod();
    pod.send = (request) =>
      Promise.resolve(
        request.method === 'POST' ? conflict('who knows') : answer(200, { metadata: { uid: 'ours' }, spec: {} }),
      );
    expect(await bind(pod)).toBeInstanceOf(ConflictError);
  });

  it('ends at once when the scheduler stops', async () => {
    const pod = new OnePod(['silent']);
    const stop = new AbortController();
    const ended = bind(pod, stop.signal);
    stop.abort(new Error('stopping'));
    expect(await ended).toEqual(new Error('stopping'));
  });

  it('looks again after a conflict that it cannot explain, also when it could not look before', async () => {
    const pod = new OnePod([500, 403, 409]);
    expect(await bind(pod)).toBeUndefined();
    expect([pod.nodeName, pod.calls]).toEqual(['a', ['POST', 'GET', 'POST', 'GET', 'POST']]);
  });

  it('never gives up a pod that may be bound, when nobody is allowed to look at it', async () => {
    const fate = fc.constantFrom<Fate>('lostBefore', 'lostAfter', 'silent', 'cutShort', 429, 500, 503, 403);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 8, size: 'max' }),
        fc.constantFrom('', 'b'),
        async (fates, nodeName) => {
          const pod = new OnePod(fates);
          pod.nodeName = nodeName;
          const send = pod.send.bind(pod);
          pod.send = (request, signal) =>
            request.method === 'GET'
              ? Promise.resolve(answer(403, { kind: 'Status', code: 403, message: 'no' }))
              : send(request, signal);
          const error = await bind(pod);
          if (error !== undefined) expect(pod.nodeName).not.toBe('a');
          else expect(pod.nodeName).not.toBe('');
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is never reported done when it is not, nor done elsewhere when it is free, whatever happens on the line', async () => {
    const fate = fc.constantFrom<Fate>('answered', 'lostBefore', 'lostAfter', 'silent', 'cutShort', 409, 429, 500, 503);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 6, size: 'max' }),
        fc.constantFrom('', 'b'),
        async (fates, nodeName) => {
          const pod = new OnePod(fates);
          pod.nodeName = nodeName;
          const error = await bind(pod);
          if (error === undefined) expect(pod.nodeName).toBe('a');
          else if (error instanceof BoundElsewhereError) expect(pod.nodeName).toBe('b');
          else {
            const ofLine = [ConnectionError, TimeoutError, MalformedAnswerError];
            const causes = [...ofLine, ConflictError, ServerError, TooManyRequestsError];
            expect(causes.filter((cause) => error instanceof cause)).toHaveLength(1);
            // Bound after all: only when looking was in vain too.
            if (pod.nodeName === 'a') expect(pod.calls.at(-1)).toBe('GET');
          }
          expect(pod.nodeName === 'b').toBe(nodeName === 'b');
        },
      ),
      { numRuns: 100 },
    );
  });
});
