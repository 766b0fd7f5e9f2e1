import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { comparePlugin, emptyTally, judge } from './compare-plugin.ts';
import { comparisons } from './comparisons.ts';
import { recordedFor } from './corpus.ts';
import { Oracle } from './oracle.ts';

const provision = await provideForSuite("fidelity to kube-scheduler's own plugins", ['fidelity']);

const perPlugin = 500;
const seed = 20_260;

describe.each(comparisons)('$plugin', (comparison) => {
  it('matches the recorded answers of kube-scheduler', async () => {
    const tally = emptyTally(comparison.plugin);
    for (const { question, answer } of await recordedFor(comparison.plugin)) judge(comparison, question, answer, tally);
    expect(tally.examples).toEqual([]);
    expect(tally.comparisons).toBeGreaterThan(0);
  });

  describe.skipIf(provision.state === 'missing')("with kube-scheduler's own plugin", () => {
    let oracle: Oracle;
    beforeAll(() => {
      if (provision.state !== 'missing') oracle = new Oracle(provision.paths.fidelity);
    });
    afterAll(() => oracle[Symbol.asyncDispose]());

    it('gives the same answers', async () => {
      const ask = oracle.ask.bind(oracle);
      const tally = await comparePlugin(comparison, { ask, comparisons: perPlugin, seed });
      expect(tally.examples).toEqual([]);
      expect(tally.comparisons).toBe(perPlugin);
      // A difference that never occurs no longer exists, or the questions do not cover it.
      for (const { name } of comparison.differences ?? []) expect([...tally.differences.keys()]).toContain(name);
    });
  });
});

it('docs/fidelity.md lists every deliberate difference', async () => {
  const page = await readFile(new URL('../../docs/fidelity.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `([a-z-]+)` \| (\w+)/gm)].map(([, name, plugin]) => `${plugin}: ${name}`);
  const made = comparisons.flatMap(({ plugin, differences = [] }) =>
    differences.map(({ name }) => `${plugin}: ${name}`),
  );
  expect(documented.sort()).toEqual(made.sort());
});
