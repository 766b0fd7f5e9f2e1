import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { helmPath } from './kubectl.ts';
import type { HelmVersion } from './kubectl.ts';

/** Folder of Tutti's chart. */
export const chartFolder = fileURLToPath(new URL('../../charts/tutti', import.meta.url));

export interface HelmOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs helm without the user's settings: its home is a temporary folder, and it knows only the cluster of the kubeconfig. Writes `values`
 * to a file and passes it with --values.
 */
export async function helm(
  args: readonly string[],
  {
    version = '3.17',
    kubeconfig = '/dev/null',
    values,
  }: { readonly version?: HelmVersion; readonly kubeconfig?: string; readonly values?: object | string } = {},
): Promise<HelmOutcome> {
  const path = await helmPath(version);
  const home = await mkdtemp(join(tmpdir(), 'tutti-helm-'));
  try {
    const all = [...args];
    if (values !== undefined) {
      const file = join(home, 'values.yaml');
      await writeFile(file, typeof values === 'string' ? values : JSON.stringify(values));
      all.push('--values', file);
    }
    // Helm ends before garbage piles up: the collector took a quarter of its processor time.
    const env = { PATH: process.env.PATH, GOGC: '400', HOME: home, KUBECONFIG: kubeconfig };
    return await new Promise((resolve) => {
      execFile(path, all, { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ exitCode, stdout, stderr });
      });
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
