import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Returns a hash of all loadable files next to Tutti's built command line. Builds of equal sources have equal hashes. */
export async function buildHash(cli: string): Promise<string> {
  const folder = dirname(cli);
  const hash = createHash('sha256');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js'));
  for (const name of names.toSorted()) hash.update(`${name}\0`).update(await readFile(join(folder, name)));
  return hash.digest('hex').slice(0, 10);
}
