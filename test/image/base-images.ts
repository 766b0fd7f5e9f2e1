import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, realpath, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Writes the root file system of a runtime base image: the libraries of Node.js on this machine, and an empty /tmp. It replaces an image
 * from a registry, and contains as little as the smallest of those.
 */
export async function writeRuntimeBase(root: string): Promise<void> {
  await mkdir(join(root, 'tmp'), { recursive: true });
  await copyLibraries(root, process.execPath);
}

/** Writes a build base image: this machine's Node.js, npm and the few programs that a build calls. */
export async function writeBuildBase(root: string): Promise<void> {
  const programs = ['/bin/sh', '/bin/cp', '/usr/bin/env'];
  for (const folder of ['bin', 'usr/bin', 'usr/local/bin', 'usr/local/lib/node_modules', 'tmp', 'root']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  for (const program of programs) await copyFile(program, join(root, program));
  await copyFile(await realpath(process.execPath), join(root, 'usr/local/bin/node'));
  const { stdout } = await run('sh', ['-c', 'command -v npm']);
  const npm = dirname(dirname(await realpath(stdout.trim())));
  await cp(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  await copyLibraries(root, process.execPath, ...programs);
}

async function copyLibraries(root: string, ...programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    const { stdout } = await run('ldd', [program]);
    for (const [path] of stdout.matchAll(/\/\S+/g)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await copyFile(path, join(root, path));
    }
  }
}
