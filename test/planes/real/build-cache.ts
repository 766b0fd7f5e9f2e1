import { createHash } from 'node:crypto';
import { access, constants, readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { binaries } from './binaries.ts';
import type { Binary, BinaryName } from './binaries.ts';

/** Returns the folder of built programs, outside of the repository: $XDG_CACHE_HOME or ~/.cache, then tutti/planes. */
export function cacheFolder(): string {
  // An empty or relative XDG_CACHE_HOME counts as unset, as in the XDG specification.
  const { XDG_CACHE_HOME: configured = '' } = process.env;
  return join(configured.startsWith('/') ? configured : join(homedir(), '.cache'), 'tutti', 'planes');
}

export function moduleFolder(module: string): string {
  return fileURLToPath(new URL(`modules/${module}/`, import.meta.url));
}

/** Returns the path of the built program. The path changes when any of its inputs does. */
export async function cachedPath(name: BinaryName): Promise<string> {
  const binary: Binary = binaries[name];
  const hash = createHash('sha256');
  const folder = moduleFolder(binary.module);
  for (const file of (await readdir(folder)).sort()) {
    if (/\.go$|^go\.(mod|sum)$/.test(file) && file !== 'tools.go') hash.update(await readFile(join(folder, file)));
  }
  hash.update(JSON.stringify([linkerFlags(binary), process.platform, process.arch]));
  return join(cacheFolder(), hash.digest('hex').slice(0, 16), name);
}

export function linkerFlags(binary: Binary): string {
  return ['-s', '-w', ...Object.entries(binary.variables).map(([name, value]) => `-X ${name}=${value}`)].join(' ');
}

export function isBuilt(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
