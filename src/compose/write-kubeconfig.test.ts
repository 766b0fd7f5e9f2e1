import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UserError } from '../base/user-error.ts';
import { localKubeconfig } from '../client/local-kubeconfig.ts';
import { writeKubeconfigFile, writeTemporaryKubeconfig } from './write-kubeconfig.ts';

const failure = (code: string): Error => Object.assign(new Error(`${code}: said by the system`), { code });

describe('a temporary kubeconfig', () => {
  it('is readable by this user only, and is removed with its folder', () => {
    const kubeconfig = writeTemporaryKubeconfig('kind: Config\n');
    const { path } = kubeconfig;
    expect(readFileSync(path, 'utf8')).toBe('kind: Config\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    kubeconfig.remove();
    kubeconfig.remove();
    expect(existsSync(dirname(path))).toBe(false);
  });

  it.each([
    ['ENOENT', 'there is no such folder'],
    ['EACCES', 'this user may not write to it'],
    ['EIO', 'EIO: said by the system'],
  ])('that cannot be written (%s) is an error that names the folder and TMPDIR', (code, problem) => {
    const mkdtempFails = (): never => {
      throw failure(code);
    };
    const files = { mkdtempSync: mkdtempFails, writeFileSync: () => undefined };
    const rejected = thrownBy(() => writeTemporaryKubeconfig('', files));
    expect(rejected).toBeInstanceOf(UserError);
    expect(rejected).toMatchObject({
      name: 'TemporaryFolderError',
      message: `cannot write the kubeconfig to ${tmpdir()}: ${problem}. Set TMPDIR to a folder that can be written to`,
      cause: { code },
    });
  });

  it('leaves nothing behind when there is space for the folder, but not for the file', () => {
    let folder = '';
    const files = {
      mkdtempSync: (prefix: string) => (folder = mkdtempSync(prefix)),
      writeFileSync: () => {
        throw failure('ENOSPC');
      },
    };
    expect(() => writeTemporaryKubeconfig('', files)).toThrow(/there is no room left in it.*TMPDIR/);
    expect(folder).not.toBe('');
    expect(existsSync(folder)).toBe(false);
  });
});

describe('a kubeconfig file', () => {
  const kubeconfigOf = (port: number): string =>
    localKubeconfig(`https://127.0.0.1:${port}`, { certificate: 'certificate', token: 'token' });

  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'tutti-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return folder;
  }

  it('is created for this user only, overwritten by the next start, and stays', () => {
    const folder = newFolder();
    const path = join(folder, 'config');
    writeKubeconfigFile(path, kubeconfigOf(1)).remove();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeKubeconfigFile(path, kubeconfigOf(2)).remove();
    expect(readFileSync(path, 'utf8')).toBe(kubeconfigOf(2));
    expect(readdirSync(folder)).toEqual(['config']);
  });

  it.each([
    ['of another cluster', 'kind: Config\nclusters: [{name: prod, cluster: {server: "https://prod"}}]\n'],
    ['with other clusters beside ours', kubeconfigOf(1).replace('clusters:\n', 'clusters:\n  - name: prod\n')],
    ['that is no YAML', '{'],
  ])('%s is rejected and left as it is', (_what, text) => {
    const path = join(newFolder(), 'config');
    writeFileSync(path, text);
    expect(() => writeKubeconfigFile(path, kubeconfigOf(1))).toThrow(
      `cannot write the kubeconfig to ${path}: the file was not written by tutti up. Name another file, or move this one away`,
    );
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('in a folder that does not exist is an error that names the path', () => {
    const path = join(newFolder(), 'missing', 'config');
    expect(() => writeKubeconfigFile(path, kubeconfigOf(1))).toThrow(`cannot write the kubeconfig to ${path}: ENOENT`);
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
