import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { hangsMs } from './test/planes/patience.ts';

/** Tests that leave nothing behind in the process that runs them, and do not mind what others have left in its memory. */
const sharing = ['src/**/*.test.ts'];
/** Those of `sharing` that start processes, threads or servers, or measure the process. */
const apart = ['src/*.test.ts', 'src/{cli,client,compose,serving,plane/apiserver}/**/*.test.ts', '**/*.e2e.test.ts'];

export default defineConfig({
  // The examples import the package by its name; they get its sources.
  ssr: { resolve: { conditions: ['tutti-sources', 'module', 'node', 'development|production'] } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'apart', include: [...apart, 'test/**/*.test.ts', 'bench/**/*.test.ts'] },
      },
      {
        extends: true,
        // A process for each file would load the sources again for each: that is half of what these tests compute.
        test: {
          name: 'sharing',
          include: sharing,
          exclude: [...configDefaults.exclude, ...apart],
          isolate: false,
          restoreMocks: true,
        },
      },
    ],
    exclude: [...configDefaults.exclude, 'test/fixtures/**'],
    setupFiles: ['./test/expect/safe-log-lines.ts', './test/property-seed.ts'],
    // These only end what hangs: no test may pass or fail by how busy the machine is.
    testTimeout: 10 * hangsMs,
    hookTimeout: 10 * hangsMs,
    expect: { poll: { timeout: hangsMs } },
    // More than the two cores that they share with the servers that they start: many tests wait for those most of the time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    env: {
      // The programs of real planes live for a minute: they may collect their garbage half as often.
      GOGC: '200',
      // What tests start from the sources, processes and threads, loads in two thirds of the processor time.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/node-compile-cache', import.meta.url)),
    },
    // The last line of a run is `N passed, N failed, N skipped`.
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
});
