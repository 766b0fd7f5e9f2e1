// Checks that every case in test/scenarios/cases.ts has exactly one test, in the file that the table names, and that the test runs. Loads
// the files in the table and all files with a case id at the start of a string. With --results, reads the results of the last test runs
// instead, and checks that the tests of all cases passed, also those of the cases in docs/preemption-cases.md.
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';
import type { TestCase, TestSuite } from 'vitest/node';
import { caseOf, caseProblems, maybeNamesCase } from '../test/scenarios/case-problems.ts';
import type { CollectedTest } from '../test/scenarios/case-problems.ts';
import { cases } from '../test/scenarios/cases.ts';
import { preemptionCaseProblems, readPreemptionCases, realPlaneFile } from '../test/scenarios/preemption-cases.ts';
import { resultsFolder } from './summary-reporter.ts';
import type { TestResults } from './summary-reporter.ts';

/** Returns the test files, relative to the repository, that may contain a test of a case. */
function filesWithCases(): string[] {
  const named = new Set<string>(Object.values(cases));
  return globSync('{src,test,bench}/**/*.test.ts', { exclude: ['test/fixtures/**', '**/node_modules'] }).filter(
    (file) => named.has(file) || maybeNamesCase(readFileSync(file, 'utf8')),
  );
}

/** Collects the tests with vitest, so that names from templates and tables count. Runs no test. */
async function collectTests(): Promise<{ tests: CollectedTest[]; problems: string[] }> {
  const vitest = await createVitest('test', {
    watch: false,
    reporters: [],
    pool: 'threads',
    isolate: false,
    allowOnly: false,
  });
  try {
    const { testModules, unhandledErrors } = await vitest.collect(filesWithCases(), { staticParse: false });
    const problems = unhandledErrors.map(String);
    const tests: CollectedTest[] = [];
    for (const module of testModules) {
      problems.push(...module.errors().map((error) => `${module.relativeModuleId} does not load: ${error.message}`));
      for (const test of module.children.allTests()) {
        tests.push({ name: test.name, file: module.relativeModuleId, runs: runs(test) });
      }
    }
    return { tests, problems };
  } finally {
    await vitest.close();
  }
}

function runs(test: TestCase): boolean {
  if (test.options.fails === true) return false;
  let task: TestCase | TestSuite = test;
  for (;;) {
    if (task.options.mode === 'skip' || task.options.mode === 'todo') return false;
    if (task.parent.type === 'module') return true;
    task = task.parent;
  }
}

/** Returns the differences between the table and the results of the last test runs. */
async function problemsOfResults(): Promise<string[]> {
  // case id -> result of its test
  const ended = new Map<string | undefined, string>();
  const collected: CollectedTest[] = [];
  const all: TestResults['tests'][number][] = [];
  for (const lane of ['unit', 'integration', 'properties']) {
    const { tests } = JSON.parse(await readFile(join(resultsFolder, `${lane}.json`), 'utf8')) as TestResults;
    all.push(...tests);
    if (lane === 'properties') continue;
    for (const { name, file, state } of tests) {
      ended.set(caseOf(name), state);
      collected.push({ name, file, runs: true });
    }
  }
  const notPassed = Object.entries(cases)
    .filter(([id]) => ended.get(id) !== 'passed')
    .map(([id, file]) => `${id}: its test in ${file} ${ended.get(id) ?? 'was not run'}`);
  return [...notPassed, ...caseProblems(cases, collected), ...(await problemsOfPreemption(all))];
}

/** Returns the cases of preemption without a passed test. Those on a real plane are skipped if its programs are missing. */
async function problemsOfPreemption(tests: TestResults['tests']): Promise<string[]> {
  const page = await readFile(fileURLToPath(new URL('../docs/preemption-cases.md', import.meta.url)), 'utf8');
  const isDone = ({ file, state }: TestResults['tests'][number]): boolean =>
    state === 'passed' || (state === 'skipped' && file === realPlaneFile);
  const problems = preemptionCaseProblems(readPreemptionCases(page), tests.filter(isDone));
  return problems.map((problem) => `of the tests that passed: ${problem}`);
}

let problems: string[];
if (process.argv.includes('--results')) {
  problems = await problemsOfResults();
} else {
  const collected = await collectTests();
  problems = [...collected.problems, ...caseProblems(cases, collected.tests)];
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${Object.keys(cases).length} cases, one test each`);
