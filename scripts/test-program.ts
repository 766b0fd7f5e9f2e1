// Prints the path of the `tutti` program for tests that run it in separate processes. It is a bundle of the current sources, as in the
// package, because a bundle needs a third of the CPU time to start. Rebuilds the bundle if the sources have changed.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// Inside the repository, because the program looks for package.json in parent folders.
const folder = join(root, '.cache', 'test-program');
const maxAgeMs = 24 * 60 * 60 * 1000;

/** Returns a hash of all inputs of the bundle. */
async function digest(): Promise<string> {
  const hash = createHash('sha256');
  const sources = (await readdir(join(root, 'src'), { recursive: true })).filter(
    (file) => /\.(ts|json|html|css|svg)$/.test(file) && !file.endsWith('.test.ts'),
  );
  const others = ['package.json', 'package-lock.json', 'scripts/bundle.ts'];
  for (const file of [...sources.map((source) => join('src', source)), ...others].sort()) {
    hash.update(`${file}\0`).update(await readFile(join(root, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Removes old bundles. Recent ones stay, because running tests may still use them. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const isOld = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs > maxAgeMs,
      () => false,
    );
    if (isOld) await rm(path, { recursive: true, force: true });
  }
}

const made = join(folder, await digest());
if (!existsSync(made)) {
  const { bundle } = await import('./bundle.ts');
  await removeOld();
  // Several processes may build the bundle at the same time. The rename ensures that each sees a complete one.
  const partial = join(folder, `partial-${randomUUID()}`);
  await bundle({ write: true, folder: partial });
  await rename(partial, made).catch(async (error: unknown) => {
    if (!existsSync(made)) throw error;
    await rm(partial, { recursive: true });
  });
}
process.stdout.write(join(made, 'cli.js'));
