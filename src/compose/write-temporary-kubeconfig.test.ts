import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { UserError } from '../base/user-error.ts';
import { writeTemporaryKubeconfig } from './write-temporary-kubeconfig.ts';

const failure = (code: string): Error => Object.assign(new Error(`${code}: said by the system`), { code });

it('is for this user only, and goes with its folder', async () => {
  const kubeconfig = await writeTemporaryKubeconfig('kind: Config\n');
  const { path } = kubeconfig;
  expect(readFileSync(path, 'utf8')).toBe('kind: Config\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await kubeconfig.remove();
  expect(existsSync(dirname(path))).toBe(false);
});

it('goes at once when the process does, and then again', async () => {
  const kubeconfig = await writeTemporaryKubeconfig('kind: Config\n');
  kubeconfig.removeNow();
  expect(existsSync(dirname(kubeconfig.path))).toBe(false);
  kubeconfig.removeNow();
  await kubeconfig.remove();
});

it.each([
  ['ENOENT', 'there is no such folder'],
  ['EACCES', 'this user may not write to it'],
  ['EIO', 'EIO: said by the system'],
])('says where it cannot be written (%s), and how to choose another folder', async (code, problem) => {
  const files = { mkdtemp: () => Promise.reject(failure(code)), writeFile: () => Promise.resolve() };
  const refused: unknown = await writeTemporaryKubeconfig('', files).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UserError);
  expect(refused).toMatchObject({
    name: 'TemporaryFolderError',
    message: `cannot write the kubeconfig to ${tmpdir()}: ${problem}. Set TMPDIR to a folder that can be written to`,
    cause: { code },
  });
});

it('leaves nothing behind when there is room for the folder, but not for the file', async () => {
  let folder = '';
  const files = {
    mkdtemp: async (prefix: string) => (folder = await mkdtemp(prefix)),
    writeFile: () => Promise.reject(failure('ENOSPC')),
  };
  await expect(writeTemporaryKubeconfig('', files)).rejects.toThrow(/there is no room left in it.*TMPDIR/);
  expect(folder).not.toBe('');
  expect(existsSync(folder)).toBe(false);
});
