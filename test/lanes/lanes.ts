import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Patterns of all test files. */
const everything = ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];
const notTests = ['test/fixtures/**'];

/** Tests that start processes: `tutti`, kubectl, Helm, programs of a real plane, containers. */
export const integration = [
  '**/*.e2e.test.ts',
  'test/**/real-*.test.ts',
  'test/{chart,embedded/kubectl,examples,extender,fidelity,image,package,planes,real,ui}/**/*.test.ts',
];

/** Tests that only try many or very large examples. */
export const propertiesOnly = ['**/*.fuzz.test.ts', 'test/{fuzz,preemption,refusals,simulation,soak}/**/*.test.ts'];

/** Matches both kinds of properties: of fast-check, and loops over seeds. */
const property = /\bfc\.(assert|check)\(|\bruns\(/;

export type Lane = 'unit' | 'integration' | 'properties';

/**
 * Returns lane -> its files, relative to the repository. Each file is in one lane, but unit tests with properties also run in full in the
 * properties lane.
 */
export function lanes(): Readonly<Record<Lane, readonly string[]>> {
  const files = testFiles();
  const unit = files.filter((file) => !isIn(file, integration) && !isIn(file, propertiesOnly));
  const holdsProperties = (file: string): boolean => property.test(readFileSync(join(root, file), 'utf8'));
  return {
    unit,
    integration: files.filter((file) => isIn(file, integration)),
    properties: files.filter(
      (file) => isIn(file, propertiesOnly) || (!isIn(file, integration) && holdsProperties(file)),
    ),
  };
}

/** Returns the test files, relative to the repository. */
function testFiles(): string[] {
  return globSync(everything, { cwd: root, exclude: notTests }).sort();
}

function isIn(file: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(file, glob));
}
