// Prints the krew manifest of the kubectl plugin: node scripts/krew-manifest.ts TARBALL URI. TARBALL is what `npm run package` makes, and URI is
// where it will be published.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { krewManifest } from './krew/manifest.ts';

const [tarball, uri] = process.argv.slice(2);
if (tarball === undefined || uri === undefined) {
  console.error('usage: node scripts/krew-manifest.ts TARBALL URI');
  process.exit(2);
}
const packageJson = fileURLToPath(new URL('../package.json', import.meta.url));
const { version, engines } = JSON.parse(readFileSync(packageJson, 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};
const sha256 = createHash('sha256').update(readFileSync(tarball)).digest('hex');
process.stdout.write(krewManifest({ version, node: engines.node, uri, sha256 }));
