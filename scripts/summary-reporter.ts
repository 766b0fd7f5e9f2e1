import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule, TestRunEndReason, Vitest } from 'vitest/node';

/** Results of a lane, for scripts/check-cases.ts and .ci/run. */
export interface TestResults {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly tests: readonly { readonly name: string; readonly file: string; readonly state: string }[];
}

/** Folder with one file per lane, such as `unit.json`. */
export const resultsFolder = fileURLToPath(new URL('../.cache/test-results', import.meta.url));

/**
 * Prints `N passed, N failed, N skipped` at the end of a test run, and writes the results to {@link resultsFolder}. Test files that do not
 * load, errors outside tests, and tests that the run did not reach count as failed.
 */
export default class SummaryReporter implements Reporter {
  readonly #results: TestResults['tests'][number][] = [];
  #lane = 'unit';

  onInit({ projects }: Vitest): void {
    // `unit-apart` belongs to the unit lane.
    this.#lane = projects[0]!.name.replace(/-.*/, '');
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: TestRunEndReason): void {
    let [passed, failed, skipped] = [0, unhandledErrors.length, 0];
    this.#results.length = 0;
    for (const module of modules) {
      failed += module.errors().length;
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        this.#results.push({ name: test.name, file: module.relativeModuleId, state });
        if (state === 'passed') passed++;
        else if (state === 'skipped') skipped++;
        else failed++;
      }
    }
    if (reason !== 'passed' && failed === 0) failed = 1;
    const results: TestResults = { passed, failed, skipped, tests: this.#results };
    mkdirSync(resultsFolder, { recursive: true });
    writeFileSync(join(resultsFolder, `${this.#lane}.json`), JSON.stringify(results));
    process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
}
