// Writes schemas/ from the types in src/api/explain and src/api/timeline. With --check, writes nothing and fails if a file is outdated.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';
import { explainApiVersion } from '../src/api/explain/basis.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join('schemas', explainApiVersion);
const kinds = [
  'Explanation',
  'StatusList',
  'StatusChange',
  'QueueList',
  'TimelineList',
  'TimelineChange',
  'Trace',
  'PlanResult',
  'DrainCheck',
  'Snapshot',
  'SnapshotReplay',
  'TimelineMessage',
] as const;

const generator = createGenerator({
  path: join(root, 'src/api/{explain,timeline}/*.ts'),
  tsconfig: join(root, 'tsconfig.json'),
  skipTypeCheck: true,
  // A newer version may have more fields.
  additionalProperties: true,
});

let isOutdated = false;
for (const kind of kinds) {
  const { $ref, definitions, ...rest } = generator.createSchema(kind);
  const schema = { ...rest, $id: `https://${explainApiVersion}/${kind}.json`, title: kind, $ref, definitions };
  const text = `${JSON.stringify(schema, undefined, 2)}\n`;
  const file = join(folder, `${kind}.json`);
  if (!process.argv.includes('--check')) {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, file), text);
    console.log(`wrote ${file}`);
  } else if ((await readFile(join(root, file), 'utf8').catch(() => '')) !== text) {
    console.error(`${file} is outdated: run node scripts/generate-schemas.ts`);
    isOutdated = true;
  }
}
if (isOutdated) process.exitCode = 1;
