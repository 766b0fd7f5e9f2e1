import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { comparePlugin, emptyTally, judge } from './compare-plugin.ts';
import { comparisons } from './comparisons.ts';
import { recordedFor } from './corpus.ts';
import { Oracle } from './oracle.ts';

const provision = await provideForSuite("fidelity, what kube-scheduler's own plugins say", ['fidelity']);

const perPlugin = 500;
const seed = 20_260;

describe.each(comparisons)('$plugin', (comparison) => {
  it("answers as kube-scheduler's did when it was recorded", async () => {
    const tally = emptyTally(comparison.plugin);
    for (const { question, answer } of await recordedFor(comparison.plugin)) judge(comparison, question, answer, tally);
    expect(tally.examples).toEqual([]);
    expect(tally.comparisons).toBeGreaterThan(0);
  });

  describe.skipIf(provision.state === 'missing')("beside kube-scheduler's own", () => {
    let oracle: Oracle;
    beforeAll(() => {
      if (provision.state !== 'missing') oracle = new Oracle(provision.paths.fidelity);
    });
    afterAll(() => oracle[Symbol.asyncDispose]());

    it('answers the same', async () => {
      const ask = oracle.ask.bind(oracle);
      const tally = await comparePlugin(comparison, { ask, comparisons: perPlugin, seed });
      expect(tally.examples).toEqual([]);
      expect(tally.comparisons).toBe(perPlugin);
      // A difference that never shows is none any more, or its questions are not asked.
      for (const { name } of comparison.differences ?? []) expect([...tally.differences.keys()]).toContain(name);
    });
  });
});

it('every deliberate difference is told', async () => {
  const page = await readFile(new URL('../../docs/fidelity.md', import.meta.url), 'utf8');
  const told = [...page.matchAll(/^\| `([a-z-]+)` \| (\w+)/gm)].map(([, name, plugin]) => `${plugin}: ${name}`);
  const made = comparisons.flatMap(({ plugin, differences = [] }) =>
    differences.map(({ name }) => `${plugin}: ${name}`),
  );
  expect(told.sort()).toEqual(made.sort());
});
