import { expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { ConnectionError } from '../../src/client/api-errors.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { EmbeddedApiServer } from '../../src/plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../../src/plane/apiserver/in-process-transport.ts';
import { Pulse } from './pulse.ts';

async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    clock.advance(Math.min(left, 50));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('Pulse counts time while the plane responds, and a stall as one beat', async () => {
  const clock = new VirtualClock();
  const server = new EmbeddedApiServer({ clock, random: seededRandom(1) });
  const pulse = new Pulse(new KubeClient({ transport: new InProcessTransport(server), clock }), clock);
  const begun = clock.monotonic();
  await pass(clock, 5_000);
  const stalled = clock.monotonic();
  clock.advance(10_000);
  await pass(clock, 1_000);
  expect(pulse.workedMs(begun, stalled)).toBe(5_000);
  expect(pulse.workedMs(begun + 1_000, begun + 1_100)).toBe(100);
  expect(pulse.workedMs(stalled - 1_000, clock.monotonic())).toBeGreaterThanOrEqual(2_000);
  expect(pulse.workedMs(stalled - 1_000, clock.monotonic())).toBeLessThanOrEqual(2_250);
  await pulse.close();
});

it('Pulse counts almost no time while the plane does not respond', async () => {
  const clock = new VirtualClock();
  const away = { get: () => Promise.reject(new ConnectionError('away', { ambiguous: false, cause: undefined })) };
  const pulse = new Pulse(away, clock);
  await pass(clock, 60_000);
  expect(pulse.workedMs(0, 60_000)).toBe(250);
  await pulse.close();
});
