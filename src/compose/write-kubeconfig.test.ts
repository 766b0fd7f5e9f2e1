import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UserError } from '../base/user-error.ts';
import { localKubeconfig } from '../client/local-kubeconfig.ts';
import { writeKubeconfigFile, writeTemporaryKubeconfig } from './write-kubeconfig.ts';

const failure = (code: string): Error => Object.assign(new Error(`${code}: system message`), { code });

describe('a temporary kubeconfig', () => {
  it('is readable only by this user, and is removed with its folder', () => {
    const kubeconfig = writeTemporaryKubeconfig('kind: Config\n');
    const { path } = kubeconfig;
    expect(readFileSync(path, 'utf8')).toBe('kind: Config\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    kubeconfig.remove();
    kubeconfig.remove();
    expect(existsSync(dirname(path))).toBe(false);
  });

  it.each([
    ['ENOENT', 'the folder does not exist'],
    ['EACCES', 'this user may not write to it'],
    ['EIO', 'EIO: system message'],
  ])('that is not writable (%s) is reported with the folder and TMPDIR', (code, problem) => {
    const mkdtempFails = (): never => {
      throw failure(code);
    };
    const files = { mkdtempSync: mkdtempFails, writeFileSync: () => undefined };
    const rejected = thrownBy(() => writeTemporaryKubeconfig('', files));
    expect(rejected).toBeInstanceOf(UserError);
    expect(rejected).toMatchObject({
      name: 'TemporaryFolderError',
      message: `cannot write the kubeconfig to ${tmpdir()}: ${problem}. Set TMPDIR to a writable folder`,
      cause: { code },
    });
  });

  it('leaves nothing behind if there is space for the folder but not for the file', () => {
    let folder = '';
    const files = {
      mkdtempSync: (prefix: string) => (folder = mkdtempSync(prefix)),
      writeFileSync: () => {
        throw failure('ENOSPC');
      },
    };
    expect(() => writeTemporaryKubeconfig('', files)).toThrow(/no space is left on the device.*TMPDIR/);
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

  it('is created for this user only, is overwritten by the next start, and stays', () => {
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
    ['with additional clusters', kubeconfigOf(1).replace('clusters:\n', 'clusters:\n  - name: prod\n')],
    ['that is not YAML', '{'],
  ])('%s is rejected and stays unchanged', (_what, text) => {
    const path = join(newFolder(), 'config');
    writeFileSync(path, text);
    expect(() => writeKubeconfigFile(path, kubeconfigOf(1))).toThrow(
      `cannot write the kubeconfig to ${path}: the file was not written by tutti up. Use another file, or move this one`,
    );
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('in a missing folder is reported with its path', () => {
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
