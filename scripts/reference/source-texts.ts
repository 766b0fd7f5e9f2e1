import { readdir, readFile } from 'node:fs/promises';

/** The texts of all files of src/ that are part of the program. */
export async function sourceTexts(): Promise<readonly string[]> {
  const folder = new URL('../../src/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.includes('.test.') && !/\b(?:testing|testkit)\b/.test(file),
  );
  return Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
}
