import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../base/package-files.ts';
import { bundlePage } from './bundle-page.ts';
import type { PageFile } from './bundle-page.ts';

/** Where the build writes the page, next to the entry points. */
export const builtPageFolder = 'ui';

/**
 * Returns the files of the page. A package has them ready. In a clone, where this code runs from its sources, esbuild bundles them now, so that
 * the page is always that of the sources.
 */
export async function loadPage(): Promise<readonly PageFile[]> {
  const here = import.meta.url;
  if (here.endsWith('.ts')) return bundlePage(packageFile('src', 'ui'));
  // From dist/chunks/.
  const folder = fileURLToPath(new URL(`../${builtPageFolder}/`, here));
  const names = await readdir(folder);
  return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })));
}
