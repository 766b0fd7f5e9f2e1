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

/** Returns the packages that `npm run sbom` lists as name@version, without Tutti itself. */
function billOfMaterials(format: 'spdx' | 'cyclonedx'): readonly string[] {
  const bill = JSON.parse(execFileSync(process.execPath, ['scripts/sbom.ts', format], { encoding: 'utf8' }));
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
    expect(names.filter((name) => ['vitest', 'typescript', 'esbuild', 'eslint', 'node'].includes(name))).toEqual([]);
  });
});

it('the bundle contains every dependency in package.json', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(Object.keys(dependencies).filter((name) => !bundledNames.includes(name))).toEqual([]);
});
