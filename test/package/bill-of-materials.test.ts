import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';

/** Bundled packages as name@version. */
let bundled: readonly string[];
let bundledNames: readonly string[];

beforeAll(async () => {
  const packages = await bundle({ write: false });
  bundled = packages.map(({ name, version }) => `${name}@${version}`);
  bundledNames = packages.map(({ name }) => name);
});

function printedBill(...parameters: readonly string[]): any {
  return JSON.parse(execFileSync(process.execPath, ['scripts/sbom.ts', ...parameters], { encoding: 'utf8' }));
}

/** Returns the packages that `npm run sbom` lists as name@version, without Tutti itself. */
function billOfMaterials(format: 'spdx' | 'cyclonedx'): readonly string[] {
  const bill = printedBill(format);
  return format === 'spdx'
    ? bill.packages
        .filter(({ SPDXID }: any) => !bill.documentDescribes.includes(SPDXID))
        .map(({ name, versionInfo }: any) => `${name}@${versionInfo}`)
    : bill.components.map(({ name, version }: any) => `${name}@${version}`);
}

// The SBOM may list more than the bundle contains: dependencies of libraries that the bundler found unused, for example type declarations.
// So the reverse check covers only our own dependencies.
describe.each(['spdx', 'cyclonedx'] as const)('SBOM (%s)', (format) => {
  let listed: readonly string[];

  beforeAll(() => {
    listed = billOfMaterials(format);
  });

  it('lists every bundled package', () => {
    expect(bundled.length).toBeGreaterThan(6);
    expect(bundled.filter((one) => !listed.includes(one))).toEqual([]);
  });

  it('lists no development tools', () => {
    const names = listed.map((one) => one.slice(0, one.lastIndexOf('@')));
    const tools = /^(vitest|typescript|esbuild|eslint|node|node-.*-x64)$/;
    expect(names.filter((name) => tools.test(name))).toEqual([]);
  });
});

describe('SBOM of the image', () => {
  const holder = `node-${process.platform}-${process.arch}`;
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { version, integrity } = packages[`node_modules/${holder}`];
  const sha512 = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  const purl = `pkg:generic/node@${version}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;

  it('names Node.js as scanners do, in the package that the lockfile pins (cyclonedx)', () => {
    const { components, dependencies } = printedBill('cyclonedx', 'image');
    const node = components.find(({ name }: any) => name === 'node');
    expect(node).toMatchObject({ version, purl, cpe, hashes: [{ alg: 'SHA-256' }] });
    expect(components.filter(({ purl }: any) => purl.includes('node-'))).toEqual([
      expect.objectContaining({ name: holder, version, hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    ]);
    const held = dependencies.find(({ ref }: any) => ref === `${holder}@${version}`);
    expect(held.dependsOn).toEqual([node['bom-ref']]);
  });

  it('names Node.js as scanners do, in the package that the lockfile pins (spdx)', () => {
    const { packages: listed, relationships } = printedBill('spdx', 'image');
    const [node, its] = ['node', holder].map((wanted) => listed.find(({ name }: any) => name === wanted));
    expect(node.externalRefs.map(({ referenceLocator }: any) => referenceLocator)).toEqual([cpe, purl]);
    expect(its.checksums).toEqual([{ algorithm: 'SHA512', checksumValue: sha512 }]);
    expect(relationships).toContainEqual({
      ...{ spdxElementId: its.SPDXID, relatedSpdxElement: node.SPDXID, relationshipType: 'CONTAINS' },
    });
  });
});

it('the bundle contains every dependency in package.json', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(Object.keys(dependencies).filter((name) => !bundledNames.includes(name))).toEqual([]);
});
