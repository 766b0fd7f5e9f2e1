// Writes crds/ from src/api. With --check, writes nothing and fails if a file is outdated.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { podGroupResource } from '../src/api/pod-group.ts';
import { podGroupDefinition } from '../src/api/pod-group-schema.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const file = join('crds', `${podGroupResource.group}_${podGroupResource.plural}.yaml`);
const text = `# Made by scripts/generate-crd.ts from src/api/pod-group-schema.ts; do not edit.\n${stringify(
  podGroupDefinition,
  {
    lineWidth: 120,
    aliasDuplicateObjects: false,
  },
)}`;

if (process.argv.includes('--check')) {
  const present = await readFile(join(root, file), 'utf8').catch(() => '');
  if (present !== text) {
    console.error(`${file} is outdated: run node scripts/generate-crd.ts`);
    process.exitCode = 1;
  }
} else {
  await writeFile(join(root, file), text);
  console.log(`wrote ${file}`);
}
