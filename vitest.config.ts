import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { integration, lanes, propertiesOnly } from './test/lanes/lanes.ts';
import { LongestFirst } from './test/lanes/longest-first.ts';
import { hangsMs } from './test/planes/patience.ts';
import { defectInTests, defectVariable } from './test/simulation/defect-in-tests.ts';

/**
 * Unit tests that start threads or servers, or measure the process. Others leave nothing behind in the process that runs them, and do
 * not mind what others have left in its memory.
 */
const apart = [
  'src/*.test.ts',
  'src/{cli,client,compose,serving,plane/apiserver}/**/*.test.ts',
  'src/**/*-memory.test.ts',
  'test/**/*.test.ts',
];

const setupFiles = ['./test/expect/safe-log-lines.ts', './test/lanes/property-seed.ts'];
const inUnit = { setupFiles: [...setupFiles, './test/lanes/no-processes.ts'] };
const notInUnit = [...configDefaults.exclude, 'test/fixtures/**', ...integration, ...propertiesOnly];
const allRuns = { TUTTI_PROPERTY_RUNS: 'full' };
/** A process for each file would load the sources again for each: that is half of what these tests compute. */
const shared = { isolate: false, restoreMocks: true };

/** `npm test` is the two whose names begin with `unit`; the mode `properties` has the third lane. */
const projects: Readonly<Record<'test' | 'properties', readonly TestProjectInlineConfiguration[]>> = {
  test: [
    {
      test: {
        name: 'unit',
        include: ['{src,bench}/**/*.test.ts'],
        exclude: [...notInUnit, ...apart],
        ...inUnit,
        ...shared,
      },
    },
    { test: { name: 'unit-apart', include: apart, exclude: notInUnit, ...inUnit } },
    {
      test: {
        name: 'integration',
        include: integration,
        globalSetup: './test/lanes/install-tools.ts',
        setupFiles,
        env: allRuns,
      },
    },
  ],
  properties: [
    {
      test: {
        name: 'properties',
        include: [...lanes().properties],
        setupFiles,
        env: allRuns,
      },
    },
  ],
};

const ownFastCheck = fileURLToPath(new URL('test/lanes/fast-check.ts', import.meta.url));

export default defineConfig(({ mode }) => ({
  // The examples import the package by its name; they get its sources.
  ssr: { resolve: { conditions: ['tutti-sources', 'module', 'node', 'development|production'] } },
  plugins: [
    {
      name: 'runs-of-properties',
      enforce: 'pre',
      resolveId: (id, importer) => (id === 'fast-check' && importer !== ownFastCheck ? ownFastCheck : undefined),
    },
    defectInTests(),
  ],
  test: {
    projects: projects[mode === 'properties' ? mode : 'test'].map((project) => ({
      extends: true as const,
      ...project,
    })),
    exclude: [...configDefaults.exclude, 'test/fixtures/**'],
    // A defect changes what Vitest loads from a file, not the file. The cache would not notice.
    fsModuleCache: process.env[defectVariable] === undefined,
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
}));
