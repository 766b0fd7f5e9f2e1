import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ManifestError } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { parseManifests } from './parse-manifests.ts';

const manifestNames = /\.(yaml|yml|json)$/;

/** Means standard input. */
const dash = '-';

/**
 * Reads manifest files and the .yaml, .yml and .json files of directories, in the given order. Files of a directory are sorted by name;
 * subdirectories are skipped. If `readInput` is set, `-` means what it reads. Rejects with one ManifestError for all problems of all files.
 */
export async function loadManifests(
  paths: readonly string[],
  readInput?: () => Promise<string>,
): Promise<readonly Manifest[]> {
  const problems: string[] = [];
  const manifests: Manifest[] = [];
  if (paths.filter((path) => path === dash).length > 1) {
    throw new ManifestError(['-f - is set twice, but standard input can be read only once']);
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
    problems.push(`${paths.map((path) => (path === dash ? 'standard input' : path)).join(', ')}: no objects found`);
  if (problems.length > 0) throw new ManifestError(problems);
  return manifests;
}

async function filesOf(path: string, problems: string[]): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => manifestNames.test(name)).sort();
    if (names.length === 0) problems.push(`${path}: this directory has no .yaml, .yml or .json file`);
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
  if (code === 'ENOENT') return 'no such file or directory';
  if (code === 'EACCES') return 'permission denied';
  return `cannot be read: ${message}`;
}
