import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { moduleFolder } from '../../../test/planes/real/build-cache.ts';
import type { BinaryName } from '../../../test/planes/real/binaries.ts';
import { buildHash } from '../build-hash.ts';
import { versionOf } from '../machine.ts';
import type { Contender, ContenderName } from './contender.ts';
import { kubeScheduler, schedulerPlugins } from './go-scheduler.ts';
import { tutti } from './tutti.ts';

export interface ContenderPaths {
  /** The repository, for the version of what is measured. */
  readonly root: string;
  /** Tutti's built command line. */
  readonly cli: string;
  /** Where CPU profiles of Tutti are left; absent: none are taken. */
  readonly profileFolder?: string;
  /** The path of the program that `binaryOf` names. */
  readonly binary: (name: BinaryName) => string;
}

/** The program of the real plane's modules that a contender needs; Tutti needs none. */
export const binaryOf = {
  tutti: undefined,
  'kube-scheduler': 'kube-scheduler',
  'scheduler-plugins': 'scheduler-plugins-scheduler',
} as const satisfies Readonly<Record<ContenderName, BinaryName | undefined>>;

export async function createContender(name: ContenderName, paths: ContenderPaths): Promise<Contender> {
  const { root, cli, profileFolder, binary } = paths;
  switch (name) {
    case 'tutti':
      return tutti({
        cliPath: cli,
        version: await tuttiVersion(root, cli),
        ...(profileFolder !== undefined && { profileFolder }),
      });
    case 'kube-scheduler': {
      const path = binary(binaryOf[name]);
      return kubeScheduler(path, await versionOf(path));
    }
    case 'scheduler-plugins':
      return schedulerPlugins(binary(binaryOf[name]), await schedulerPluginsVersion());
  }
}

/**
 * The build that is measured, by its contents. For that of the repository also version, the last commit of the sources, and
 * whether they have changed since; they need not be what it was built from.
 */
async function tuttiVersion(root: string, cli: string): Promise<string> {
  const build = `build ${await buildHash(cli)}`;
  if (cli !== join(root, 'dist/cli.js')) return build;
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const git = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)('git', args, { cwd: root })).stdout.trim();
  try {
    const commit = await git('log', '-1', '--format=%h', '--', 'src');
    const changed = (await git('status', '--porcelain', '--', 'src')) !== '';
    return `${version} (${commit}${changed ? ', changed' : ''}, ${build})`;
  } catch {
    return `${version} (${build})`; // not a clone
  }
}

/** The program only tells the version of the Kubernetes inside. */
async function schedulerPluginsVersion(): Promise<string> {
  const module = await readFile(join(moduleFolder('scheduler-plugins'), 'go.mod'), 'utf8');
  return /sigs\.k8s\.io\/scheduler-plugins (v\S+)/.exec(module)?.[1] ?? 'unknown';
}
