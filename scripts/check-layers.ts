// Checks the import rules of src/. First proves that the rules find exactly the violations planted in test/fixtures/layers, because a rule
// that silently checks nothing would otherwise pass. Then prints what the folders of src/ import.
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';
import process from 'node:process';
import { cruise } from 'dependency-cruiser';
import type { ICruiseResult, IConfiguration } from 'dependency-cruiser';
import { dependencyDiagram } from './dependency-diagram.ts';
import type { Cruised } from './dependency-diagram.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const configuration = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as IConfiguration;

const planted = [
  'layer-api: src/api/imports-a-type-from-a-later-layer.ts → src/client/transport.ts',
  'layer-api: src/api/imports-a-value-from-a-later-layer.ts → src/client/transport.ts',
  'part-plane/apiserver/store/: src/plane/apiserver/store/imports-a-type-from-a-later-part.ts → src/plane/apiserver/plane.ts',
  'part-plane/apiserver/store/: src/plane/apiserver/store/imports-a-value-from-a-later-part.ts → src/plane/apiserver/verbs/create.ts',
  'part-plugins/files: src/plugins/imports-a-plugin.ts → src/plugins/second/second.ts',
  'part-unknown: src/base/imports-an-unlisted-part.ts → src/base/unlisted/unlisted.ts',
  'no-cycle: src/base/one-of-a-cycle.ts → src/base/other-of-a-cycle.ts → src/base/one-of-a-cycle.ts',
  'apiserver-only-in-compose: src/cli/imports-the-embedded-plane.ts → src/plane/apiserver/plane.ts',
  'apiserver-only-in-compose: src/plane/nodes/imports-the-embedded-plane.ts → src/plane/apiserver/plane.ts',
  'sources-without-tests: src/client/imports-a-test.ts → src/base/shared.test.ts',
  'sources-without-tests: src/client/imports-a-test-helper.ts → src/base/testing/helper.ts',
  'page-apart: src/client/imports-the-page.ts → src/ui/page.ts',
  'page-without-node: src/ui/imports-a-module-of-node.ts → fs',
  'plugin-without-plugin: src/plugins/first/imports-another-plugin.ts → src/plugins/second/second.ts',
  'layer-plugins: src/plugins/first/imports-the-scheduler.ts → src/scheduler/imports-a-plugin.ts',
  'scheduler-without-plugins: src/scheduler/imports-a-plugin.ts → src/plugins/second/second.ts',
];

async function cruiseFolders(baseDir: string, folders: string[]): Promise<Cruised> {
  const result = await cruise(folders, {
    ...configuration.options,
    baseDir,
    validate: true,
    ruleSet: { forbidden: configuration.forbidden ?? [] },
  });
  const { modules, summary } = result.output as ICruiseResult;
  return {
    modules,
    violations: summary.violations.map(({ rule, from, to, cycle }) =>
      [`${rule.name}: ${from}`, ...(cycle?.map(({ name }) => name) ?? [to])].join(' → '),
    ),
    imports: summary.totalDependenciesCruised ?? 0,
  };
}

function difference(these: readonly string[], those: readonly string[]): string[] {
  return these.filter((item) => !those.includes(item));
}

const fixture = await cruiseFolders(`${root}test/fixtures/layers`, ['src']);
const missed = difference(planted, fixture.violations);
const unexpected = difference(fixture.violations, planted);
for (const violation of missed) console.error(`the import rules do not find the planted violation ${violation}`);
for (const violation of unexpected)
  console.error(`the import rules report a false violation in the fixture: ${violation}`);

const sources = await cruiseFolders(root, ['src', 'test', 'bench', 'scripts']);
const layers =
  configuration.forbidden?.flatMap(({ name }) => /^layer-(?!unknown)(.+)/.exec(name ?? '')?.[1] ?? []) ?? [];
console.log(dependencyDiagram(sources, layers).join('\n'));
for (const violation of sources.violations) {
  const rule = configuration.forbidden?.find(({ name }) => name !== undefined && violation.startsWith(`${name}: `));
  console.error(`${violation}\n    ${rule?.comment ?? ''}`);
}
const failures = missed.length + unexpected.length + sources.violations.length;
if (failures > 0) process.exitCode = 1;
else console.log(`${planted.length} planted violations found, none among ${sources.imports} imports`);
