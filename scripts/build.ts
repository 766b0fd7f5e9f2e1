// Builds dist/: the command line, the library, the timeline page, their declarations, source maps, and the licenses of the bundled packages.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { chmod, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { bundle, entries } from './bundle.ts';
import type { BundledPackage } from './bundle.ts';
import { packedManifest } from './packed-manifest.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
process.chdir(root);

/**
 * Writes the declarations of the library, and removes declarations that the library does not reach. Throws if a declaration imports a
 * package that is not a peer dependency.
 */
async function declarations(): Promise<void> {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  });
  const { peerDependencies = {} } = packedManifest(await readFile('package.json', 'utf8'));
  const types = join(dist, 'types');
  const reached = new Set(
    Object.keys(entries)
      .map((name) => join(types, `${name}.d.ts`))
      .filter(existsSync),
  );
  for (const file of reached) {
    for (const specifier of importsOf(await readFile(file, 'utf8'))) {
      if (specifier.startsWith('.')) reached.add(join(dirname(file), specifier.replace(/\.ts$/, '.d.ts')));
      else if (!specifier.startsWith('node:') && !Object.hasOwn(peerDependencies, packageOf(specifier))) {
        throw new Error(
          `${relative(root, file)} imports the package ${specifier}, which is bundled and not installed: ` +
            `do not export its types from src/index.ts, or make it a peer dependency`,
        );
      }
    }
  }
  for (const entry of await readdir(types, { recursive: true })) {
    const file = join(types, entry);
    if (file.endsWith('.d.ts') && !reached.has(file)) await rm(file);
  }
}

/** Returns the imports of a declaration file. Ignores examples in comments. */
function importsOf(declaration: string): string[] {
  const code = declaration.replaceAll(/\/\*[^]*?\*\//g, '');
  return [...code.matchAll(/(?:\bfrom |\bimport\()['"]([^'"]+)['"]/g)].map(([, specifier]) => specifier ?? '');
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Returns the license texts of the packages in the bundle. Throws if a package has none. */
function licenses(packages: readonly BundledPackage[]): string {
  const texts = packages.map(({ name, version, license, folder }) => {
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    if (files.length === 0 && license === undefined) throw new Error(`the bundled package ${name} has no license`);
    const text = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license ?? 'see below'})`, ...text].join('\n\n');
  });
  return `The bundles in this directory contain the packages below.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

await rm(dist, { recursive: true, force: true });
const packages = await bundle({ write: true });
const cli = join(dist, 'cli.js');
if (!(await readFile(cli, 'utf8')).startsWith('#!')) throw new Error('src/main.ts must start with #!/usr/bin/env node');
await chmod(cli, 0o755);
await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenses(packages));
await declarations();
for (const file of (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.js'))) {
  console.log(`${((await stat(join(dist, file))).size / 1024).toFixed(0).padStart(6)} KiB  dist/${file}`);
}
