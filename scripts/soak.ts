// Runs the test of one scenario case many times in a row, each in a fresh process, and stops at the first failure:
// `npm run soak -- t6 200`.
import process from 'node:process';
import { createVitest } from 'vitest/node';
import { caseOf } from '../test/scenarios/case-problems.ts';
import { cases } from '../test/scenarios/cases.ts';

const [id = '', count = '100'] = process.argv.slice(2);
const runs = Number(count);
if (!Object.hasOwn(cases, id) || !Number.isInteger(runs) || runs < 1) {
  console.error(`usage: npm run soak -- <case> [runs]\ncases: ${Object.keys(cases).join(' ')}`);
  process.exit(2);
}
const file = cases[id as keyof typeof cases];

const vitest = await createVitest('test', {
  watch: false,
  reporters: [],
  testNamePattern: new RegExp(`(^|\\s)${id}(\\s|:|$)`),
});

/** Runs the case once. Resolves to what went wrong; empty when it passed. */
async function runOnce(): Promise<string[]> {
  const specifications = await vitest.globTestSpecifications([file]);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const problems = unhandledErrors.map((error) =>
    error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error),
  );
  let passed = 0;
  for (const module of testModules) {
    problems.push(...module.errors().map(({ stack, message }) => stack ?? message));
    for (const suite of module.children.allSuites()) {
      problems.push(...suite.errors().map(({ stack, message }) => stack ?? message));
    }
    for (const test of module.children.allTests()) {
      if (caseOf(test.name) !== id) continue;
      const { state, errors = [] } = test.result();
      if (state === 'passed') passed++;
      else problems.push(`${test.fullName}: ${state}`, ...errors.map(({ stack, message }) => stack ?? message));
    }
  }
  if (passed === 0 && problems.length === 0) problems.push(`${file} has no test that begins with ${id}`);
  return problems;
}

const started = performance.now();
let done = 0;
let problems: string[] = [];
while (done < runs && problems.length === 0) {
  const runStarted = performance.now();
  problems = await runOnce();
  done++;
  const seconds = ((performance.now() - runStarted) / 1000).toFixed(2);
  console.log(
    `${id} ${String(done).padStart(String(runs).length)}/${runs} ${problems.length === 0 ? 'passed' : 'FAILED'} ${seconds} s`,
  );
}
await vitest.close();
for (const problem of problems) console.error(problem);
const failed = problems.length === 0 ? 0 : 1;
console.log(`${done - failed} passed, ${failed} failed in ${((performance.now() - started) / 1000).toFixed(0)} s`);
process.exit(failed);
