import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { ExtenderBinding } from './extender-binding.ts';

const binding = { namespace: 'team', name: 'x', uid: 'u', nodeName: 'a', annotations: {} };
const { signal } = new AbortController();

/** The API server shows the pod on these nodes, one look after the other; the last stays. */
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
  let said = '';
  const end = run.then(
    () => void (said = 'bound'),
    (error: unknown) => void (said = (error as Error).message),
  );
  for (let i = 0; i < 20; i++) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    clock.advance(1_000);
  }
  await end;
  return said;
}

const says = {
  yes: () => Promise.resolve(),
  no: () => Promise.reject(new Error('no device')),
};

describe('a bind by somebody else', () => {
  it.each([
    ['yes', ['u@a'], 'bound'],
    ['yes', ['u', 'u', 'u@a'], 'bound'],
    ['yes', ['u'], 'it said that the pod was bound to node a, and it is not'],
    ['yes', ['u@b'], 'pod team/x is already bound to node b'],
    ['yes', ['other@a'], 'pod team/x was deleted and made again meanwhile'],
    ['no', ['u'], 'no device'],
    ['no', ['u@a'], 'bound'],
    ['no', ['u@b'], 'pod team/x is already bound to node b'],
  ] as const)('that says %s, of a pod that is then seen as %j: %s', async (answer, nodes, expected) => {
    const { outside, clock } = showing(...nodes);
    expect(await outcome(outside.bind(binding, says[answer], signal), clock)).toBe(expected);
  });

  it('comes after the annotations, which are for this pod only', async () => {
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
