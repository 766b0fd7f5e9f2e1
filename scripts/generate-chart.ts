// Writes the generated files of the chart: its copy of the CRD, its values schema and README, the plain manifests in deploy/ and
// docs/rbac.md. With --check, writes nothing and fails if a file is outdated.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { plainManifests } from './chart/plain-manifests.ts';
import { rbacPage } from './chart/rbac-page.ts';
import { readValues, valuesTables } from './chart/values-page.ts';
import { valuesSchema } from './chart/values-schema.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

async function readme(): Promise<string> {
  const tables = valuesTables(readValues(await read('charts/tutti/values.yaml')));
  return `${(await read('charts/tutti/README.md.head')).trimEnd()}\n\n## Values\n\n${tables}`;
}

/** file -> function that creates its text, in order: later files depend on earlier ones */
const files: Readonly<Record<string, () => Promise<string>>> = {
  'charts/tutti/files/podgroups.yaml': () => read('crds/scheduling.x-k8s.io_podgroups.yaml'),
  'charts/tutti/values.schema.json': () => Promise.resolve(`${JSON.stringify(valuesSchema(), null, 2)}\n`),
  'charts/tutti/README.md': readme,
  'deploy/tutti.yaml': plainManifests,
  'docs/rbac.md': rbacPage,
};

for (const [file, createText] of Object.entries(files)) {
  const text = await createText();
  const present = await read(file).catch(() => '');
  if (present === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${file} is outdated: run node scripts/generate-chart.ts`);
    process.exitCode = 1;
  } else {
    await writeFile(join(root, file), text);
    console.log(`wrote ${file}`);
  }
}
