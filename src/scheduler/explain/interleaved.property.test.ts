import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { ExplanationPart } from './explainer.ts';

const changed = 'the cluster changed while it was explained; ask again';

/** Asks why one group waits while nodes, pods and attempts come and go, a few steps at a time. */
async function explainAmidChanges(seed: number): Promise<ExplanationPart | undefined> {
  const random = seededRandom(seed);
  const int = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const c = new Scheduling({ plugins: defaultPlugins });
  let [nodes, pods] = [0, 0];
  const live = new Set<string>();
  const addNode = (): void => {
    live.add(`n${nodes}`);
    c.node({ name: `n${nodes++}`, cpu: int(1, 4), unschedulable: random() < 0.2 });
  };
  const addPod = (): void => {
    const isRunning = random() < 0.3 && live.size > 0;
    const [first] = live;
    c.pod({
      name: `p${pods++}`,
      cpu: int(1, 3),
      priority: int(-5, 5),
      ...(isRunning ? { nodeName: first! } : { group: 'red' }),
    });
  };
  const removeNode = (): void => {
    const [name] = live;
    if (name === undefined) return;
    live.delete(name);
    c.removeNode(name);
  };
  const removePod = (): void => {
    const name = `p${int(0, pods - 1)}`;
    if (c.has(name)) c.removePod(name);
  };
  for (let i = 0; i < 4; i++) addNode();
  for (let i = 0; i < 8; i++) addPod();
  c.group({ name: 'red', minMember: int(2, 5) });
  while ((await c.attempt()) !== undefined);
  const { core } = c.harness;
  let isDone = false;
  const explanation = core.explain({ namespace: 'default', name: 'red' }).finally(() => (isDone = true));
  for (let turns = 0; !isDone; turns++) {
    expect(turns, `seed ${seed}`).toBeLessThan(20_000);
    core.attempt(int(1, 20));
    // The cluster must not grow faster than the explanation proceeds.
    if (turns < 200 && random() < 0.2) [addNode, addPod, removeNode, removePod][int(0, 3)]!();
    await c.settle();
  }
  return explanation;
}

it('explains amid changes, and says so if they are in the way', async () => {
  let disturbed = 0;
  for (let seed = 1; seed <= runs(1_000); seed++) {
    const { errors = [] } = (await explainAmidChanges(seed)) ?? {};
    for (const { message } of errors) expect(message, `seed ${seed}`).toBe(changed);
    disturbed += errors.length;
  }
  expect(disturbed).toBeGreaterThan(0);
});
