// Creates the tarball to publish: `npm run package`, or `npm run package -- FOLDER` to choose its folder.
//
// The repository's package.json lists the bundled packages as dependencies, for audits. The published one must not, because npm would
// install them again (docs/decisions/0011-runtime-dependencies.md). So this script assembles and packs the package in a
// separate folder with its own package.json. npm refuses to publish the repository itself, because it is private.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { packedManifest } from './packed-manifest.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const stage = join(root, '.cache/package');
const destination = resolve(process.argv[2] ?? root);

await import('./build.ts');
const manifest = packedManifest(readFileSync(join(root, 'package.json'), 'utf8'));
rmSync(stage, { recursive: true, force: true });
mkdirSync(stage, { recursive: true });
for (const path of [...manifest.files, 'README.md', 'LICENSE']) {
  cpSync(join(root, path), join(stage, path), { recursive: true });
}
writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
const bill = execFileSync(process.execPath, [join(root, 'scripts/sbom.ts'), 'cyclonedx'], { encoding: 'utf8' });
writeFileSync(join(stage, 'dist/sbom.cdx.json'), bill);
mkdirSync(destination, { recursive: true });
execFileSync('npm', ['pack', '--pack-destination', destination], { cwd: stage, stdio: 'inherit' });
