// Writes docs/reference/ from the commands, the schema of the configuration and the code that writes to the API. With --check it
// writes nothing and fails when a page is not what it would write.
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

/** File -> what it holds. */
const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/commands.md': commandsPage,
  'docs/reference/configuration.md': configurationPage,
  'docs/reference/status.md': statusPage,
  'docs/reference/names.md': namesPage,
};

for (const [page, make] of Object.entries(pages)) {
  const file = join(root, page);
  const config = await resolveConfig(file);
  const text = await format(await make(), { ...config, parser: 'markdown' });
  const present = await readFile(file, 'utf8').catch(() => '');
  if (present === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${page} is not what it is made from says: run node scripts/generate-reference.ts`);
    process.exitCode = 1;
  } else {
    await writeFile(file, text);
    console.log(`wrote ${page}`);
  }
}
