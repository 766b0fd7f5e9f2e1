import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { packageFile } from '../../src/base/package-files.ts';
import { outputsOf } from './console-blocks.ts';
import type { ConsoleCommand } from './console-blocks.ts';

/** What `npm run package` reads. */
const sources = [
  ...['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'tsconfig.build.json'],
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'crds', 'examples', 'schemas', 'scripts', 'src'],
];

/** Commands that need a registry -> the same effect without one, with the packages of this repository. */
const offline: Readonly<Record<string, string>> = {
  'npm ci': ':',
  'npm install --save-dev typescript@6 @types/node@24': link('typescript', '@types/node', 'undici-types'),
  'npm install @kubernetes/client-node': link('@kubernetes/client-node'),
};

function link(...names: readonly string[]): string {
  const links = names.map((name) => `ln -s '${packageFile('node_modules', name)}' node_modules/${name}`);
  return `mkdir -p node_modules/.bin node_modules/@types node_modules/@kubernetes && ${links.join(' && ')}${
    names.includes('typescript') ? ' && ln -s ../typescript/bin/tsc node_modules/.bin/tsc' : ''
  }`;
}

/** A reader with a clone of the repository, and a home of their own where npm installs commands. */
export class PackageReader {
  /** The folder that contains the clone. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<PackageReader> {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-package-'));
    const clone = join(folder, 'tutti');
    await mkdir(clone);
    for (const name of sources) await cp(packageFile(name), join(clone, name), { recursive: true });
    await symlink(packageFile('node_modules'), join(clone, 'node_modules'));
    return new PackageReader(folder);
  }

  /** Runs the commands in one shell, in a folder below `folder`. Returns the output of each; it ends in `FAILED` if the command fails. */
  run(commands: readonly string[], folder: string): Promise<readonly string[]> {
    const environment = {
      HOME: this.folder,
      PATH: [join(this.folder, 'global/bin'), dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
      npm_config_prefix: join(this.folder, 'global'),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    };
    const all = commands.map((command): ConsoleCommand => ({
      command: `${offline[command] ?? command} || echo FAILED`,
      output: '',
    }));
    return outputsOf(all, environment, join(this.folder, folder));
  }

  async write(path: string, text: string): Promise<void> {
    await writeFile(join(this.folder, path), text);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
