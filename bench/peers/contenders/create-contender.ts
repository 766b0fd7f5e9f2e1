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
  /** The repository, for Tutti's version. */
  readonly root: string;
  /** Tutti's built command line. */
  readonly cli: string;
  /** Folder for CPU profiles of Tutti. Absent: no profiles. */
  readonly profileFolder?: string;
  /** Returns the path of a program in `binaryOf`. */
  readonly binary: (name: BinaryName) => string;
}

/** contender -> program of the real plane that it needs. Tutti needs none. */
export const binaryOf = {
  tutti: undefined,
  'tutti-native': undefined,
  'kube-scheduler': 'kube-scheduler',
  'scheduler-plugins': 'scheduler-plugins-scheduler',
} as const satisfies Readonly<Record<ContenderName, BinaryName | undefined>>;

export async function createContender(name: ContenderName, paths: ContenderPaths): Promise<Contender> {
  const { root, cli, profileFolder, binary } = paths;
  switch (name) {
    case 'tutti':
    case 'tutti-native':
      return tutti({
        name,
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
 * Describes the build by its hash. For the build of the repository, adds the version, the last commit of the sources, and whether they have
 * uncommitted changes. The build may be older than the sources.
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

/** The program only reports the version of the Kubernetes inside. */
async function schedulerPluginsVersion(): Promise<string> {
  const module = await readFile(join(moduleFolder('scheduler-plugins'), 'go.mod'), 'utf8');
  return /sigs\.k8s\.io\/scheduler-plugins (v\S+)/.exec(module)?.[1] ?? 'unknown';
}
