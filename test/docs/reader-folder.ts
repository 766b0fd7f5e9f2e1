import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { RunningProcess } from '../../src/index.ts';
import type { DocumentedExample, DocumentedFile } from './examples-in.ts';
import { hangsMs } from '../planes/patience.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** entry of the package -> its source */
const entries = { index: join(root, 'src/index.ts'), testing: join(root, 'src/testing.ts') };

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  // Needed for the sources, which replace the published files.
  allowImportingTsExtensions: true,
  typeRoots: [join(root, 'node_modules/@types')],
  types: ['node'],
};

/**
 * A folder outside the repository with `tutti-scheduler` installed: its sources, under the name of the package. The official Kubernetes
 * client is installed as well.
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
      'tsconfig.json': { compilerOptions, include: ['*.ts'] },
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
    await symlink(join(root, 'node_modules/@kubernetes'), join(path, 'node_modules/@kubernetes'));
    return new ReaderFolder(path);
  }

  /** Writes the example as a file that also exports `scheduler`. */
  async write({ name, code }: DocumentedExample): Promise<void> {
    await writeFile(this.#file(name), `${code}\nexport { scheduler };\n`);
  }

  async writeFile({ name, code }: DocumentedFile): Promise<void> {
    await writeFile(join(this.#path, name), code);
  }

  /** Returns the path of a written file. */
  path(name: string): string {
    return join(this.#path, name);
  }

  /** Runs a written file in a separate process. Rejects with its output when it fails. */
  execute(name: string, ...flags: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(
        process.execPath,
        [...flags, this.path(name)],
        { cwd: this.#path, timeout: 2 * hangsMs },
        (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`${name} failed:\n${stdout}${stderr}`));
        },
      );
    });
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
