// Holds the import rule of src/. First the rule must find exactly what is planted in test/fixtures/layers: a rule that
// silently checks nothing would otherwise look like a clean tree.
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';
import process from 'node:process';
import { cruise } from 'dependency-cruiser';
import type { ICruiseResult, IConfiguration } from 'dependency-cruiser';

const root = fileURLToPath(new URL('..', import.meta.url));
const configuration = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as IConfiguration;

const planted = [
  'layer-api: src/api/imports-a-type-from-a-later-layer.ts → src/client/transport.ts',
  'layer-api: src/api/imports-a-value-from-a-later-layer.ts → src/client/transport.ts',
  'embedded-only-in-compose: src/cli/imports-the-embedded-plane.ts → src/embedded/plane.ts',
  'sources-without-tests: src/client/imports-a-test.ts → src/base/shared.test.ts',
  'plugin-without-plugin: src/plugins/first/imports-another-plugin.ts → src/plugins/second/second.ts',
  'layer-plugins: src/plugins/first/imports-the-scheduler.ts → src/scheduler/imports-a-plugin.ts',
  'scheduler-without-plugins: src/scheduler/imports-a-plugin.ts → src/plugins/second/second.ts',
];

/** The violations among the files of some folders, as `rule: from → to`, and how many imports were looked at. */
async function violations(baseDir: string, folders: string[]): Promise<{ found: string[]; imports: number }> {
  const result = await cruise(folders, {
    ...configuration.options,
    baseDir,
    validate: true,
    ruleSet: { forbidden: configuration.forbidden ?? [] },
  });
  const { summary } = result.output as ICruiseResult;
  return {
    found: summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
    imports: summary.totalDependenciesCruised ?? 0,
  };
}

function difference(these: readonly string[], those: readonly string[]): string[] {
  return these.filter((item) => !those.includes(item));
}

const fixture = await violations(`${root}test/fixtures/layers`, ['src']);
const unseen = difference(planted, fixture.found);
const unexpected = difference(fixture.found, planted);
for (const violation of unseen) console.error(`the import rule does not see the planted violation ${violation}`);
for (const violation of unexpected) console.error(`the import rule sees what is none in its fixture: ${violation}`);

const sources = await violations(root, ['src', 'test', 'bench', 'scripts']);
for (const violation of sources.found) {
  const rule = configuration.forbidden?.find(({ name }) => name !== undefined && violation.startsWith(`${name}: `));
  console.error(`${violation}\n    ${rule?.comment ?? ''}`);
}
const failures = unseen.length + unexpected.length + sources.found.length;
if (failures > 0) process.exitCode = 1;
else console.log(`${planted.length} planted violations found, none among ${sources.imports} imports`);
