import { readdir, readFile } from 'node:fs/promises';

/** Returns the texts of all files in src/ except tests and test helpers. */
export async function sourceTexts(): Promise<readonly string[]> {
  const folder = new URL('../../src/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.includes('.test.') && !/\b(?:testing|testkit)\b/.test(file),
  );
  return Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
}
