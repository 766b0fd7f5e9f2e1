// Prints the software bill of materials (SBOM): `npm run --silent sbom -- spdx` or `cyclonedx`. It lists the bundled packages as a whole,
// even if the bundler dropped parts of them. With `image`, it also lists the Node.js in the image: the package of the lockfile that
// contains it, and Node.js itself under the names that vulnerability scanners look for. It does not list the base image: scanners find its
// Debian packages by themselves.
//
// npm creates it from a copy of the manifest and the lockfile without development dependencies. `npm sbom --omit=dev` would also omit
// runtime packages that a development tool uses as well (npm/cli issue 7909), such as undici and yaml.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [format = 'spdx', of = 'package'] = process.argv.slice(2);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Node.js: one package for each platform. */
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface Lockfile {
  /** folder, or '' for this package -> installed package */
  readonly packages: Readonly<Record<string, Installed>>;
}

interface Installed {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

const { name, version, license, dependencies, optionalDependencies } = readJson('package.json') as Manifest;
const lockfile = readJson('package-lock.json') as Lockfile;

/** Returns npm's SBOM of Tutti with these dependencies. The lockfile has to contain them and what they depend on. */
function npmBill(dependencies: Manifest['dependencies'], installed: Lockfile['packages']): object {
  const temporary = mkdtempSync(join(tmpdir(), 'tutti-sbom-'));
  // npm uses the name of the folder as the name of the SBOM.
  const folder = join(temporary, name);
  mkdirSync(folder);
  try {
    const own = { name, version, license, dependencies };
    const write = (file: string, content: object): void => {
      writeFileSync(join(folder, file), JSON.stringify(content));
    };
    write('package.json', own);
    write('package-lock.json', { ...lockfile, packages: { '': own, ...installed } });
    const { status, error, stdout } = spawnSync('npm', ['sbom', '--package-lock-only', `--sbom-format=${format}`], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (error !== undefined) throw error;
    if (status !== 0) process.exit(status ?? 1);
    return JSON.parse(stdout) as object;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Node.js in the image. Scanners look up its vulnerabilities by CPE; npm's advisories do not list them. */
interface Node {
  /** Name of the package that contains it. */
  readonly holder: string;
  readonly version: string;
  readonly purl: string;
  readonly cpe: string;
  /** Hash of the program. */
  readonly sha256: string;
}

function nodeIn(holder: string, version: string): Node {
  const program = readFileSync(join(root, 'node_modules', holder, 'bin/node'));
  return {
    holder,
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    sha256: createHash('sha256').update(program).digest('hex'),
  };
}

function withNode(bill: object, { holder, version, purl, cpe, sha256 }: Node): object {
  if (format === 'cyclonedx') {
    const { components, dependencies, ...rest } = bill as CycloneDx;
    const node = {
      ...{ 'bom-ref': purl, type: 'application', name: 'node', version, scope: 'required' },
      hashes: [{ alg: 'SHA-256', content: sha256 }],
      licenses: [{ license: { id: 'MIT' } }],
      cpe,
      purl,
    };
    const isHolder = ({ ref }: { readonly ref: string }): boolean => ref === `${holder}@${version}`;
    return {
      ...rest,
      components: [...components, node],
      dependencies: [
        ...dependencies.map((one) => (isHolder(one) ? { ...one, dependsOn: [purl] } : one)),
        { ref: purl, dependsOn: [] },
      ],
    };
  }
  const { packages, relationships, ...rest } = bill as Spdx;
  const SPDXID = 'SPDXRef-Node.js';
  const node = {
    ...{ name: 'node', SPDXID, versionInfo: version, licenseDeclared: 'MIT' },
    ...{ downloadLocation: 'NOASSERTION', filesAnalyzed: false },
    checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }],
    externalRefs: [
      { referenceCategory: 'SECURITY', referenceType: 'cpe23Type', referenceLocator: cpe },
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl },
    ],
  };
  const spdxElementId = packages.find((one) => one.name === holder)?.SPDXID;
  const contains = { spdxElementId, relatedSpdxElement: SPDXID, relationshipType: 'CONTAINS' };
  return { ...rest, packages: [...packages, node], relationships: [...relationships, contains] };
}

interface CycloneDx {
  readonly components: readonly object[];
  readonly dependencies: readonly { readonly ref: string }[];
}

interface Spdx {
  readonly packages: readonly { readonly name: string; readonly SPDXID: string }[];
  readonly relationships: readonly object[];
}

const isNode = (folder: string): boolean => Object.hasOwn(optionalDependencies, folder.replace('node_modules/', ''));
const running = Object.entries(lockfile.packages).filter(
  ([folder, { dev = false }]) => folder !== '' && !dev && !isNode(folder),
);
let bill: object;
if (of === 'image') {
  const holder = `node-${process.platform}-${process.arch}`;
  const node = lockfile.packages[`node_modules/${holder}`];
  if (node === undefined) throw new Error(`package-lock.json does not pin ${holder}, which the image contains`);
  const required = { ...node, optional: false };
  const all = Object.fromEntries([...running, [`node_modules/${holder}`, required]]);
  bill = withNode(npmBill({ ...dependencies, [holder]: node.version }, all), nodeIn(holder, node.version));
} else {
  bill = npmBill(dependencies, Object.fromEntries(running));
}
console.log(JSON.stringify(bill, null, 2));
