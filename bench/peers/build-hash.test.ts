import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { buildHash } from './build-hash.ts';

async function build(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-build-hash-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'chunks'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return join(folder, 'cli.js');
}

it('depends on all loadable files of a build, but not on its location', async () => {
  const files = { 'cli.js': 'run()', 'chunks/a.js': 'one' };
  const hash = await buildHash(await build(files));
  expect(await buildHash(await build({ ...files, 'cli.js.map': '{}' }))).toBe(hash);
  expect(await buildHash(await build({ ...files, 'chunks/a.js': 'two' }))).not.toBe(hash);
  expect(await buildHash(await build({ 'cli.js': 'run()', 'chunks/b.js': 'one' }))).not.toBe(hash);
});
