import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  // The examples import the package by its name; they get its sources.
  ssr: { resolve: { conditions: ['tutti-sources', 'module', 'node', 'development|production'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/fixtures/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The tests share two cores with the servers that they start.
    maxWorkers: 2,
    // The last line of a run is `N passed, N failed, N skipped`.
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
});
