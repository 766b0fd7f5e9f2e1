// Prints the bill of materials of what runs: `npm run --silent sbom -- spdx` or `cyclonedx`. What is bundled is in it, and what the
// bundler left out of packages that are; with `image` as well, the Node.js that the image brings (what its base holds is the base's to say).
//
// npm makes it, but of a copy of the manifest and the lockfile from which the development dependencies have been taken out:
// `npm sbom --omit=dev` also leaves out what runs if a development tool happens to use it too (npm/cli issue 7909), undici
// and yaml among others.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [format = 'spdx', of = 'package'] = process.argv.slice(2);

interface Lockfile {
  /** Folder, '' for this package -> what is installed there. */
  readonly packages: Readonly<Record<string, Installed>>;
}

interface Installed {
  readonly version: string;
  readonly dev?: boolean;
  readonly devDependencies?: unknown;
  readonly dependencies?: unknown;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

const { name, version, license, ...manifest } = readJson('package.json') as Readonly<Record<string, unknown>>;
const lockfile = readJson('package-lock.json') as Lockfile;
const { '': own, ...installed } = lockfile.packages;
const running = Object.fromEntries(Object.entries(installed).filter(([, { dev = false }]) => !dev));
let dependencies = manifest.dependencies as object;
if (of === 'image') {
  const { 'node_modules/node': node } = installed;
  if (node === undefined) throw new Error('package-lock.json pins no node, which the image would bring');
  // Without what it is installed with.
  running['node_modules/node'] = { ...node, dev: false, dependencies: {} };
  dependencies = { ...dependencies, node: node.version };
}
const temporary = mkdtempSync(join(tmpdir(), 'tutti-sbom-'));
// npm gives the bill the name of the folder.
const folder = join(temporary, String(name));
mkdirSync(folder);
try {
  const write = (file: string, content: object): void => {
    writeFileSync(join(folder, file), JSON.stringify(content));
  };
  write('package.json', { name, version, license, dependencies });
  write('package-lock.json', {
    ...lockfile,
    packages: { '': { ...own!, dependencies, devDependencies: undefined }, ...running },
  });
  const { status, error } = spawnSync('npm', ['sbom', '--package-lock-only', `--sbom-format=${format}`], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
