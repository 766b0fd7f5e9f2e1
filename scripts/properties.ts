// Runs the property tests with other examples than `npm run test:properties`, one seed after the other, and stops at the first failure:
// `npm run properties -- --seeds 20`. `npm run properties -- --from 7 src/queue` starts at seed 7, in one folder.
import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { lanes } from '../test/lanes/lanes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals: folders } = parseArgs({
  options: { seeds: { type: 'string', default: '1' }, from: { type: 'string' } },
  allowPositionals: true,
});
const seeds = Number(values.seeds);
const from = Number(values.from ?? Date.now() % 1e9);
const files = lanes().properties.filter(
  (file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)),
);
if (!Number.isSafeInteger(seeds) || seeds < 1 || !Number.isSafeInteger(from) || files.length === 0) {
  process.stderr.write('usage: npm run properties -- [--seeds N] [--from SEED] [folder with property tests...]\n');
  process.exit(2);
}

for (let seed = from; seed < from + seeds; seed++) {
  process.stdout.write(`seed ${seed}: ${files.length} files\n`);
  if (await passes(seed)) continue;
  process.stdout.write(`To repeat: npm run properties -- --from ${seed} ${folders.join(' ')}\n`);
  process.exit(1);
}

function passes(seed: number): Promise<boolean> {
  const env = {
    ...process.env,
    PATH: `${root}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`,
    TUTTI_PROPERTY_SEED: String(seed),
  };
  const child = spawn('vitest', ['run', '--mode', 'properties', '--reporter=dot', ...files], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code === 0));
  });
}
