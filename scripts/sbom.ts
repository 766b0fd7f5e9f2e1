// Prints the software bill of materials (SBOM): `npm run --silent sbom -- spdx` or `cyclonedx`. It lists the bundled packages as a whole,
// even if the bundler dropped parts of them. With `image`, it also lists the Node.js in the image, but not the packages of the base image.
//
// npm creates it from a copy of the manifest and the lockfile without development dependencies. `npm sbom --omit=dev` would also omit
// runtime packages that a development tool uses as well (npm/cli issue 7909), such as undici and yaml.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [format = 'spdx', of = 'package'] = process.argv.slice(2);

interface Lockfile {
  /** folder, or '' for this package -> installed package */
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
  if (node === undefined) throw new Error('package-lock.json does not pin node, which the image contains');
  // Omit the packages that npm needs to install it.
  running['node_modules/node'] = { ...node, dev: false, dependencies: {} };
  dependencies = { ...dependencies, node: node.version };
}
const temporary = mkdtempSync(join(tmpdir(), 'tutti-sbom-'));
// npm uses the name of the folder as the name of the SBOM.
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
