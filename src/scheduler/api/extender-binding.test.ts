import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { ExtenderBinding } from './extender-binding.ts';

const binding = { namespace: 'team', name: 'x', uid: 'u', nodeName: 'a', annotations: {} };
const { signal } = new AbortController();

/** The API server returns the pod on these nodes, one read after the other; the last one repeats. */
function showing(...nodes: readonly string[]): {
  readonly outside: ExtenderBinding;
  readonly calls: string[];
  readonly clock: VirtualClock;
} {
  const calls: string[] = [];
  const clock = new VirtualClock();
  let look = 0;
  const outside = new ExtenderBinding({
    client: {
      get: <T>(path: string) => {
        calls.push(`GET ${path}`);
        const [uid = 'u', nodeName] = nodes[Math.min(look++, nodes.length - 1)]!.split('@');
        return Promise.resolve({ metadata: { uid }, spec: { nodeName } } as T);
      },
      patch: <T>(path: string, kind: string, body: unknown) => {
        calls.push(`${kind} ${path} ${JSON.stringify(body)}`);
        return Promise.resolve(undefined as T);
      },
    },
    clock,
    random: () => 0,
    logger: silentLogger,
  });
  return { outside, calls, clock };
}

async function outcome(run: Promise<void>, clock: VirtualClock): Promise<string> {
  let result = '';
  const end = run.then(
    () => void (result = 'bound'),
    (error: unknown) => void (result = (error as Error).message),
  );
  for (let i = 0; i < 20; i++) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    clock.advance(1_000);
  }
  await end;
  return result;
}

const responses = {
  success: () => Promise.resolve(),
  failure: () => Promise.reject(new Error('no device')),
};

describe('a bind by an extender', () => {
  it.each([
    ['success', ['u@a'], 'bound'],
    ['success', ['u', 'u', 'u@a'], 'bound'],
    ['success', ['u'], 'it reported success, but the pod is not bound to the chosen node'],
    ['success', ['u@b'], 'pod team/x is already bound to node b'],
    ['success', ['other@a'], 'pod team/x was deleted and recreated'],
    ['failure', ['u'], 'no device'],
    ['failure', ['u@a'], 'bound'],
    ['failure', ['u@b'], 'pod team/x is already bound to node b'],
  ] as const)('with response %s and reads %j results in: %s', async (response, nodes, expected) => {
    const { outside, clock } = showing(...nodes);
    expect(await outcome(outside.bind(binding, responses[response], signal), clock)).toBe(expected);
  });

  it('follows the annotations, whose patch has the uid of the pod', async () => {
    const { outside, calls } = showing('u@a');
    const call = (): Promise<void> => {
      calls.push('extender');
      return Promise.resolve();
    };
    await outside.bind({ ...binding, annotations: { 'tutti.dev/plan': 'p' } }, call, signal);
    expect(calls).toEqual([
      'merge /api/v1/namespaces/team/pods/x {"metadata":{"uid":"u","annotations":{"tutti.dev/plan":"p"}}}',
      'extender',
      'GET /api/v1/namespaces/team/pods/x',
    ]);
  });

  it('ends with the signal', async () => {
    const stop = new AbortController();
    const { outside } = showing('u');
    const run = outside.bind(binding, () => Promise.reject(new Error('lost')), stop.signal);
    stop.abort(new Error('stopping'));
    await expect(run).rejects.toThrow('stopping');
  });
});
