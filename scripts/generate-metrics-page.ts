// Writes docs/metrics.md from the metrics that the processes register. With --check, writes nothing and fails if the page is outdated.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { everyMetric } from './metrics/every-metric.ts';
import { metricsPage } from './metrics/metrics-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = join('docs', 'metrics.md');
const config = await resolveConfig(join(root, file));
const text = await format(metricsPage(everyMetric()), { ...config, parser: 'markdown' });

if (process.argv.includes('--check')) {
  const present = await readFile(join(root, file), 'utf8').catch(() => '');
  if (present !== text) {
    console.error(`${file} is outdated: run node scripts/generate-metrics-page.ts`);
    process.exitCode = 1;
  }
} else {
  await writeFile(join(root, file), text);
  console.log(`wrote ${file}`);
}
