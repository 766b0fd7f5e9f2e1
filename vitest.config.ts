import { configDefaults, defineConfig } from 'vitest/config';
import { hangsMs } from './test/planes/patience.ts';

export default defineConfig({
  // The examples import the package by its name; they get its sources.
  ssr: { resolve: { conditions: ['tutti-sources', 'module', 'node', 'development|production'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/fixtures/**'],
    setupFiles: ['./test/expect/safe-log-lines.ts'],
    // These only end what hangs: no test may pass or fail by how busy the machine is.
    testTimeout: 10 * hangsMs,
    hookTimeout: 10 * hangsMs,
    expect: { poll: { timeout: hangsMs } },
    // The tests share two cores with the servers that they start.
    maxWorkers: 2,
    // The last line of a run is `N passed, N failed, N skipped`.
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
});
