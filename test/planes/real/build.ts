import { spawn } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { binaries, isBinaryName } from './binaries.ts';
import type { Binary, BinaryName } from './binaries.ts';
import { cachedPath, cacheFolder, isBuilt, linkerFlags, moduleFolder } from './build-cache.ts';
import { withFileLock } from './file-lock.ts';
import { findGo, goEnvironment, neededGoVersion } from './go-toolchain.ts';

/** The requested programs, or the one reason why they are missing. */
export type Provision<Name extends BinaryName = BinaryName> =
  | { readonly state: 'ready'; readonly paths: Readonly<Record<Name, string>> }
  | {
      readonly state: 'missing';
      readonly reason: 'no-go' | 'go-too-old' | 'not-built' | 'turned-off' | 'unsuitable-machine';
      /** One line: what is missing and what to do about it. */
      readonly message: string;
    };

export interface ProvisionOptions {
  /** False: use only what is in the cache. */
  readonly mayBuild: boolean;
  /** Receives the progress of a build, line by line. Default: writes to standard error. */
  readonly onProgress?: (line: string) => void;
}

const progressEveryMs = 10_000;
/** Returns the command that builds `names`, for messages. */
const buildCommand = (names: readonly string[]): string => `node test/planes/real/build.ts ${names.join(' ')}`;

/**
 * Returns the paths of programs. Builds them if they are not in the cache and `mayBuild` is set. A first build takes minutes (five for the
 * API server on two cores) and runs at the lowest priority. Only one build runs on a machine at a time, for any number of callers and
 * processes. Without Go the result states what is missing. Rejects when a build fails.
 */
export async function provideBinaries<Name extends BinaryName>(
  names: readonly Name[],
  options: ProvisionOptions,
): Promise<Provision<Name>> {
  const { mayBuild, onProgress = (line): void => void process.stderr.write(`${line}\n`) } = options;
  const paths = {} as Record<Name, string>;
  for (const name of names) paths[name] = await cachedPath(name);
  const missing: Name[] = [];
  for (const name of names) if (!(await isBuilt(paths[name]))) missing.push(name);
  if (missing.length === 0) return { state: 'ready', paths };

  const go = await findGo();
  switch (go.state) {
    case 'absent':
      return {
        state: 'missing',
        reason: 'no-go',
        message: `${missing.join(', ')} not built, and Go is not installed: install Go ${neededGoVersion}, then ${buildCommand(names)}`,
      };
    case 'too-old':
      return {
        state: 'missing',
        reason: 'go-too-old',
        message: `${missing.join(', ')} not built, and Go ${go.version} cannot build them: install Go ${neededGoVersion}, then ${buildCommand(names)}`,
      };
    case 'found':
  }
  if (!mayBuild) {
    return {
      state: 'missing',
      reason: 'not-built',
      message: `${missing.join(', ')} not built: ${buildCommand(names)} (minutes, once), or set TUTTI_REAL_PLANE=build`,
    };
  }
  await withFileLock(
    join(cacheFolder(), 'build.lock'),
    async () => {
      for (const name of missing) if (!(await isBuilt(paths[name]))) await build(name, paths[name], onProgress);
    },
    (pid) => onProgress(`waiting for the build of process ${pid}`),
  );
  return { state: 'ready', paths };
}

async function build(name: BinaryName, path: string, onProgress: (line: string) => void): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  // Remove partial files of builds that were killed.
  for (const entry of await readdir(folder)) {
    if (entry.startsWith(`${name}.partial-`)) await rm(join(folder, entry), { force: true });
  }
  const partial = `${path}.partial-${process.pid}`;
  const started = performance.now();
  const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;
  onProgress(`building ${name} from ${binaries[name].package}`);
  let packages = 0;
  const progress = setInterval(
    () => onProgress(`building ${name}: ${packages} packages compiled, ${seconds()}`),
    progressEveryMs,
  );
  try {
    await runGoBuild(binaries[name], partial, () => packages++);
    await rename(partial, path);
  } finally {
    clearInterval(progress);
    await rm(partial, { force: true });
  }
  onProgress(`built ${name} in ${seconds()}: ${path}`);
}

/** Runs the build; rejects with the last output of Go. */
async function runGoBuild(binary: Binary, output: string, onPackage: () => void): Promise<void> {
  const flags = ['-v', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(binary)];
  const child = spawn('go', ['build', ...flags, '-o', output, binary.package], {
    cwd: moduleFolder(binary.module),
    env: goEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // People and tests use the machine at the same time. The compilers that Go starts inherit the priority.
  if (child.pid !== undefined) setPriority(child.pid, 19);
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (/^[\w.-]+(\/[\w.~-]+)*$/.test(line)) onPackage();
    else if (!line.startsWith('go: downloading')) lines.push(line);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) {
    const why = lines.slice(-20).join('\n') || `exit code ${code}`;
    throw new Error(`go build of ${binary.package} failed in ${moduleFolder(binary.module)}:\n${why}`);
  }
}

/**
 * `node build.ts etcd kube-apiserver` builds the programs and prints `name path` lines. Exits with code 3 when no suitable Go is installed.
 */
async function main(asked: readonly string[]): Promise<void> {
  const names = asked.filter(isBinaryName);
  if (names.length === 0 || names.length < asked.length) {
    process.stderr.write(`usage: node ${basename(import.meta.filename)} <${Object.keys(binaries).join('|')}>...\n`);
    process.exitCode = 2;
    return;
  }
  const provision = await provideBinaries(names, { mayBuild: true });
  if (provision.state === 'missing') {
    process.stderr.write(`${provision.message}\n`);
    process.exitCode = 3;
    return;
  }
  for (const name of names) process.stdout.write(`${name} ${provision.paths[name]}\n`);
}

if (import.meta.main) await main(process.argv.slice(2));
