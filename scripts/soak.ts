// Runs the tests of scenario cases many times and stops a case at its first failure: `npm run soak -- t6 200`. Each run has a new process
// and plane. `npm run soak -- --real t1,t2,X9 50` runs scenarios on one real API server.
import process from 'node:process';
import { createVitest } from 'vitest/node';
import type { Vitest } from 'vitest/node';
import { provideBinaries } from '../test/planes/real/build.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';
import { backfill } from '../test/scenarios/backfill.ts';
import { caseOf } from '../test/scenarios/case-problems.ts';
import { cases } from '../test/scenarios/cases.ts';
import { controller } from '../test/scenarios/controller.ts';
import { demo } from '../test/scenarios/demo.ts';
import { extra } from '../test/scenarios/extra.ts';
import { gangs } from '../test/scenarios/gangs.ts';
import type { Scenario } from '../test/scenarios/scenario.ts';

type Scenarios = Readonly<Record<string, Scenario>>;

const isReal = process.argv.includes('--real');
const [named = '', count = '100'] = process.argv.slice(2).filter((word) => word !== '--real');
const ids = named.split(',');
const runs = Number(count);
const played: Scenarios = { ...gangs, ...extra, ...demo, ...controller, ...backfill };
const known = isReal ? Object.keys(played) : Object.keys(cases);
if (ids.some((id) => !known.includes(id)) || !Number.isInteger(runs) || runs < 1) {
  console.error(`usage: npm run soak -- [--real] <case>[,<case>] [runs]\ncases: ${known.join(' ')}`);
  process.exit(2);
}

/** Runs a case once. Resolves to its problems; empty if it passed. */
type RunOnce = (id: string) => Promise<string[]>;

interface Runner {
  readonly runOnce: RunOnce;
  readonly close: () => Promise<void>;
}

async function testRunner(): Promise<Runner> {
  const vitest = await createVitest('test', {
    watch: false,
    reporters: [],
    testNamePattern: new RegExp(`(^|\\s)(${ids.join('|')})(\\s|:|$)`),
  });
  return { runOnce: (id) => runTest(vitest, id), close: () => vitest.close() };
}

async function runTest(vitest: Vitest, id: string): Promise<string[]> {
  const file = cases[id as keyof typeof cases];
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
  if (passed === 0 && problems.length === 0) problems.push(`${file} has no test whose name starts with ${id}`);
  return problems;
}

async function realRunner(): Promise<Runner> {
  const programs = await provideBinaries(['etcd', 'kube-apiserver'], { mayBuild: true });
  if (programs.state === 'missing') throw new Error(programs.message);
  const plane = await openRealPlane({ paths: programs.paths });
  console.log(`Kubernetes ${plane.version}`);
  return {
    runOnce: (id) =>
      played[id]!.run(plane).then(
        () => [],
        (error: unknown) => [error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error)],
      ),
    close: () => plane.stop(),
  };
}

const { runOnce, close } = await (isReal ? realRunner() : testRunner());
const started = performance.now();
const outcomes: Record<string, { passed: number; failed: number; 'seconds, all': number }> = {};
const problems: string[] = [];
for (const id of ids) {
  const begun = performance.now();
  let [passed, failed] = [0, 0];
  while (passed < runs && failed === 0) {
    const runStarted = performance.now();
    const found = await runOnce(id);
    if (found.length === 0) passed++;
    else failed++;
    problems.push(...found.map((problem) => `${id}: ${problem}`));
    const seconds = ((performance.now() - runStarted) / 1000).toFixed(2);
    const run = String(passed + failed).padStart(String(runs).length);
    console.log(`${id} ${run}/${runs} ${failed === 0 ? 'passed' : 'FAILED'} ${seconds} s`);
  }
  outcomes[id] = { passed, failed, 'seconds, all': Math.round((performance.now() - begun) / 1000) };
}
await close();
for (const problem of problems) console.error(problem);
console.table(outcomes);
const all = Object.values(outcomes);
const failed = all.filter((outcome) => outcome.failed > 0).length;
const passed = all.reduce((sum, outcome) => sum + outcome.passed, 0);
console.log(`${passed} passed, ${failed} failed in ${((performance.now() - started) / 1000).toFixed(0)} s`);
process.exit(failed === 0 ? 0 : 1);
