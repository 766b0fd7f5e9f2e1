import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { RunningProcess } from '../../src/index.ts';
import type { DocumentedExample } from './examples-in.ts';
import { readPage } from './markdown-page.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** entry of the package -> its source */
const entries = { index: join(root, 'src/index.ts'), testing: join(root, 'src/testing.ts') };

/** Returns the `tsconfig.json` of docs/plugins.md. */
export function readersConfiguration(): { readonly compilerOptions: object } {
  const [block] = readPage('docs/plugins.md').blocks.filter(({ language }) => language === 'json');
  return JSON.parse(block!.code) as { readonly compilerOptions: object };
}

/** For the sources, which replace the published files. */
const forSources = {
  lib: ['es2024', 'esnext.disposable'],
  typeRoots: [join(root, 'node_modules/@types')],
};

/**
 * A folder outside the repository with `tutti-scheduler` installed: its sources, under the name of the package, so that tests can run the
 * examples in their own process.
 */
export class ReaderFolder {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  static async make(): Promise<ReaderFolder> {
    const path = await mkdtemp(join(tmpdir(), 'tutti-reader-'));
    const installed = join(path, 'node_modules/tutti-scheduler');
    await mkdir(installed, { recursive: true });
    const files = {
      'package.json': { type: 'module' },
      'tsconfig.json': { compilerOptions: { ...readersConfiguration().compilerOptions, ...forSources } },
      'node_modules/tutti-scheduler/package.json': {
        type: 'module',
        exports: { '.': './index.js', './testing': './testing.js' },
      },
    };
    for (const [file, content] of Object.entries(files)) await writeFile(join(path, file), JSON.stringify(content));
    for (const [entry, source] of Object.entries(entries)) {
      await writeFile(join(installed, `${entry}.js`), `export * from '${pathToFileURL(source).href}';\n`);
      await writeFile(join(installed, `${entry}.d.ts`), `export * from '${source}';\n`);
    }
    return new ReaderFolder(path);
  }

  /** Writes the example as a file that also exports `scheduler`. */
  async write({ name, code }: DocumentedExample): Promise<void> {
    await writeFile(this.#file(name), `${code}\nexport { scheduler };\n`);
  }

  /** Compiles the written files; returns the compiler's errors. */
  compile(): Promise<string> {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    return new Promise((resolve) => {
      execFile(process.execPath, [compiler, '-p', this.#path], (_error, stdout, stderr) => {
        resolve(stdout + stderr);
      });
    });
  }

  /** Runs a written example. The caller must stop the scheduler that it starts. */
  async run({ name }: DocumentedExample): Promise<RunningProcess> {
    const { scheduler } = (await import(pathToFileURL(this.#file(name)).href)) as { scheduler: RunningProcess };
    return scheduler;
  }

  async remove(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true });
  }

  #file(name: string): string {
    return join(this.#path, `${name}.ts`);
  }
}
