import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { namesInSource, preemptionCaseProblems, readPreemptionCases, scenarioFiles } from './preemption-cases.ts';
import type { NamedTest, PreemptionCase } from './preemption-cases.ts';
import { preemption } from './preemption.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cases = readPreemptionCases(await readFile(`${root}docs/preemption-cases.md`, 'utf8'));

describe('The table of the cases of preemption', () => {
  it('has all cases, in order', () => {
    expect(cases.map(({ id }) => id)).toEqual(Array.from({ length: 46 }, (_, index) => `PE${index + 1}`));
  });

  it('has the titles of the scenarios', () => {
    const titles = cases.filter(({ isScenario }) => isScenario).map(({ id, what }) => `${id} - ${what}`);
    const scenarios = Object.values(preemption).map(({ title }) => title);
    expect(titles.toSorted()).toEqual(scenarios.toSorted());
    for (const [id, { title }] of Object.entries(preemption)) expect(title.startsWith(`${id} - `)).toBe(true);
  });

  it('names each file with a test whose name begins with the id of a case, and no other', async () => {
    const tests: NamedTest[] = Object.values(preemption).flatMap(({ title }) =>
      scenarioFiles.map((file) => ({ name: title, file })),
    );
    for (const file of globSync('{src,test,bench}/**/*.test.ts', { cwd: root, exclude: ['test/fixtures/**'] })) {
      if (file === 'test/scenarios/preemption-cases.test.ts') continue;
      const source = await readFile(`${root}${file}`, 'utf8');
      tests.push(...namesInSource(source).map((name) => ({ name, file })));
    }
    expect(preemptionCaseProblems(cases, tests)).toEqual([]);
  });
});

describe('preemptionCaseProblems', () => {
  const here = 'src/a.test.ts';
  const table: readonly PreemptionCase[] = [
    { id: 'PE1', what: 'a', isScenario: true, files: [here] },
    { id: 'PE2', what: 'b', isScenario: false, files: [] },
  ];
  const scenarios: NamedTest[] = scenarioFiles.map((file) => ({ name: 'PE1 - a', file }));

  it('finds tests that the table lacks, and files without such tests', () => {
    const tests = [
      ...scenarios,
      { name: 'PE2 - b', file: here },
      { name: 'PE3 - c', file: here },
      { name: 'PE: d', file: here },
      { name: 'PE1: e', file: here },
    ];
    expect(preemptionCaseProblems(table, tests)).toEqual([
      `PE3: the test 'PE3 - c' in ${here} names a case that the table does not have`,
      `'PE1: e' in ${here} must have ' - ' after the id`,
      `PE1: no test in ${here} has a name that begins with it`,
      'PE2: the table names no test',
      `PE2: the table does not name its test in ${here}`,
    ]);
  });

  it('reads names from sources, and rows from pages', () => {
    expect(namesInSource("it('PE1 - a', () => {}); it(`PE10: b`, f); call('PE2');")).toEqual(['PE1 - a', 'PE10: b']);
    const page = `| id |\n| --- |\n| PE1 | a | both planes | \`${here}\` |\n| PE2 | b | — | a reason |\n`;
    expect(readPreemptionCases(page)).toEqual(table);
  });
});
