import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ManifestError } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { parseManifests } from './parse-manifests.ts';

const manifestNames = /\.(yaml|yml|json)$/;

/** Stands for standard input. */
const dash = '-';

/**
 * Reads manifest files, and the .yaml, .yml and .json files of folders (by name, not the folders below), in the order given; `-` is what
 * `readInput` reads, where there is one. Without paths there are none. Rejects with one ManifestError for all that is wrong with any of them.
 */
export async function loadManifests(
  paths: readonly string[],
  readInput?: () => Promise<string>,
): Promise<readonly Manifest[]> {
  const problems: string[] = [];
  const manifests: Manifest[] = [];
  if (paths.filter((path) => path === dash).length > 1) {
    throw new ManifestError(['-f - is given twice, and standard input can be read once']);
  }
  for (const path of paths) {
    const isInput = path === dash && readInput !== undefined;
    for (const file of isInput ? ['standard input'] : await filesOf(path, problems)) {
      const text = isInput ? await readInput() : await read(file, problems);
      if (text === undefined) continue;
      const parsed = parseManifests(file, text);
      manifests.push(...parsed.manifests);
      problems.push(...parsed.problems);
    }
  }
  if (paths.length > 0 && problems.length === 0 && manifests.length === 0)
    problems.push(
      `${paths.map((path) => (path === dash ? 'standard input' : path)).join(', ')}: there are no objects in it`,
    );
  if (problems.length > 0) throw new ManifestError(problems);
  return manifests;
}

async function filesOf(path: string, problems: string[]): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => manifestNames.test(name)).sort();
    if (names.length === 0) problems.push(`${path}: there is no .yaml, .yml or .json file in this folder`);
    return names.map((name) => join(path, name));
  } catch (error) {
    problems.push(`${path}: ${unreadable(error)}`);
    return [];
  }
}

async function read(file: string, problems: string[]): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    problems.push(`${file}: ${unreadable(error)}`);
    return undefined;
  }
}

function unreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file or folder';
  if (code === 'EACCES') return 'this user may not read it';
  return `it cannot be read: ${message}`;
}
