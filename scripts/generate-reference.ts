// Writes docs/reference/ from the commands, the configuration schema and the code that writes to the API. With --check, writes nothing
// and fails if a page is outdated.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { commandsPage } from './reference/commands-page.ts';
import { configurationPage } from './reference/configuration-page.ts';
import { namesPage } from './reference/names-page.ts';
import { statusPage } from './reference/status-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** file -> function that creates its text */
const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/commands.md': commandsPage,
  'docs/reference/configuration.md': configurationPage,
  'docs/reference/status.md': statusPage,
  'docs/reference/names.md': namesPage,
};

for (const [page, createText] of Object.entries(pages)) {
  const file = join(root, page);
  const config = await resolveConfig(file);
  const text = await format(await createText(), { ...config, parser: 'markdown' });
  const present = await readFile(file, 'utf8').catch(() => '');
  if (present === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${page} is outdated: run node scripts/generate-reference.ts`);
    process.exitCode = 1;
  } else {
    await writeFile(file, text);
    console.log(`wrote ${page}`);
  }
}
