// Prints the path of `tutti` as tests run it in processes of its own: the bundle of the sources as they are, as the package has it, since
// that starts in a third of the processor time. Makes it when the sources have changed.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// Below the package.json, which the program looks for.
const folder = join(root, '.cache', 'test-program');
const keptMs = 24 * 60 * 60 * 1000;

/** Of all that the bundle is made from. */
async function digest(): Promise<string> {
  const hash = createHash('sha256');
  const sources = (await readdir(join(root, 'src'), { recursive: true })).filter(
    (file) => /\.(ts|json)$/.test(file) && !file.endsWith('.test.ts'),
  );
  const others = ['package.json', 'package-lock.json', 'scripts/bundle.ts'];
  for (const file of [...sources.map((source) => join('src', source)), ...others].sort()) {
    hash.update(`${file}\0`).update(await readFile(join(root, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Tests may use that of other sources still. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const isOld = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs > keptMs,
      () => false,
    );
    if (isOld) await rm(path, { recursive: true, force: true });
  }
}

const made = join(folder, await digest());
if (!existsSync(made)) {
  const { bundle } = await import('./bundle.ts');
  await removeOld();
  // Several may make it at the same time: each sees a whole one.
  const partial = join(folder, `partial-${randomUUID()}`);
  await bundle({ write: true, folder: partial });
  await rename(partial, made).catch(async (error: unknown) => {
    if (!existsSync(made)) throw error;
    await rm(partial, { recursive: true });
  });
}
process.stdout.write(join(made, 'cli.js'));
