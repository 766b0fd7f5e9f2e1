import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file of the page, as a browser gets it. */
export interface PageFile {
  /** Relative to the page. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Upper limit of the page, compressed with gzip file by file. */
export const pageLimitBytes = 60_000;

/** The files that the bundle does not replace. */
const others: readonly string[] = ['index.html', 'page.css', 'icon.svg'];

/** The page is too large. */
export class PageTooLargeError extends Error {
  override readonly name = 'PageTooLargeError';
}

/**
 * Bundles the page of the sources in `folder`. Rejects with PageTooLargeError, or if the page imports a module of Node. esbuild is a development
 * dependency: the sources have it, and the package has the bundled page instead.
 */
export async function bundlePage(folder: string): Promise<readonly PageFile[]> {
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.ts')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    minify: true,
    write: false,
    logLevel: 'silent', // the error that it rejects with has all messages
  }).finally(stop);
  const files = [
    { name: 'page.js', bytes: outputFiles[0]!.contents },
    ...(await Promise.all(others.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })))),
  ];
  const size = compressedBytes(files);
  if (size > pageLimitBytes)
    throw new PageTooLargeError(`the page has ${size} bytes when compressed; at most ${pageLimitBytes} are allowed`);
  return files;
}

function compressedBytes(files: readonly PageFile[]): number {
  return files.reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0);
}
