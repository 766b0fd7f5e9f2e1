import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Snapshot } from '../../api/explain/snapshot.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { expectValidAnswer } from '../../../test/expect/valid-answer.ts';
import { snapshotRoute } from './snapshot-route.ts';

const header = { tuttiVersion: '1.2.3', source: 'scheduler', unknowns: [], configuration: {} } as const;

async function drained(c: Scheduling, answer: Promise<unknown>): Promise<void> {
  let isDone = false;
  void answer.finally(() => (isDone = true));
  while (!isDone) {
    c.harness.core.attempt(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('is served at /debug/snapshot as a file, one at a time', async () => {
  const c = new Scheduling({ plugins: defaultPlugins });
  for (let i = 0; i < 20; i++) c.node({ name: `n${i}`, cpu: 2 });
  c.group({ name: 'red', minMember: 2 });
  c.members(2, { group: 'red', cpu: 3 });
  const route = snapshotRoute(c.harness.core, header);
  const ask: typeof route.answer = (query) => route.answer(query);
  const first = Promise.resolve(ask(new URLSearchParams()));
  const second = await ask(new URLSearchParams());
  expect(second).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  await drained(c, first);
  const { status, type, bytes } = await first;
  expect([status, type]).toEqual([200, 'application/gzip']);
  const snapshot = JSON.parse(gunzipSync(bytes!).toString()) as Snapshot;
  expectValidAnswer(snapshot);
  expect(snapshot).toMatchObject({ ...header, seed: c.harness.planner.seed });
  expect(snapshot.queue).toMatchObject([{ subject: { name: 'red' }, plan: { fits: false, assignments: [] } }]);
  expect(await ask(new URLSearchParams({ name: 'red' }))).toMatchObject({ status: 400 });
});
