import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** All test files are here. */
const everything = ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];
const notTests = ['test/fixtures/**'];

/** Start processes: `tutti`, kubectl, Helm, programs of a real plane, containers. */
export const integration = [
  '**/*.e2e.test.ts',
  'test/**/real-*.test.ts',
  'test/{chart,embedded/kubectl,examples,extender,fidelity,image,package,planes,real}/**/*.test.ts',
];

/** Try many examples, or very large ones, and nothing else. */
export const propertiesOnly = ['**/*.fuzz.test.ts', 'test/{fuzz,simulation,soak}/**/*.test.ts'];

/** Both kinds of properties: of fast-check, and loops over seeds. */
const property = /\bfc\.(assert|check)\(|\bruns\(/;

export type Lane = 'unit' | 'integration' | 'properties';

/** Lane -> its files, relative to the repository. A file is in one lane; the properties of the unit lane run in full in the other again. */
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

/** Test files, relative to the repository. */
function testFiles(): string[] {
  return globSync(everything, { cwd: root, exclude: notTests }).sort();
}

function isIn(file: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(file, glob));
}
