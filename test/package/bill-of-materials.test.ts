import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';

/** As name@version. */
let bundled: readonly string[];
let bundledNames: readonly string[];

beforeAll(async () => {
  const packages = await bundle({ write: false });
  bundled = packages.map(({ name, version }) => `${name}@${version}`);
  bundledNames = packages.map(({ name }) => name);
});

/** What `npm run sbom` lists, as name@version, without Tutti itself. */
function billOfMaterials(format: 'spdx' | 'cyclonedx'): readonly string[] {
  const bill = JSON.parse(execFileSync(process.execPath, ['scripts/sbom.ts', format], { encoding: 'utf8' }));
  return format === 'spdx'
    ? bill.packages
        .filter(({ SPDXID }: any) => !bill.documentDescribes.includes(SPDXID))
        .map(({ name, versionInfo }: any) => `${name}@${versionInfo}`)
    : bill.components.map(({ name, version }: any) => `${name}@${version}`);
}

// The other way round there are differences, and rightly: the bill also lists what libraries depend on and the bundler found
// to be unused, type declarations for example. So there only our own dependencies are looked at.
describe.each(['spdx', 'cyclonedx'] as const)('the bill of materials (%s)', (format) => {
  let listed: readonly string[];

  beforeAll(() => {
    listed = billOfMaterials(format);
  });

  it('lists every package that is in the bundle', () => {
    expect(bundled.length).toBeGreaterThan(6);
    expect(bundled.filter((one) => !listed.includes(one))).toEqual([]);
  });

  it('lists no tool that nothing at run time needs', () => {
    const names = listed.map((one) => one.slice(0, one.lastIndexOf('@')));
    expect(names.filter((name) => ['vitest', 'typescript', 'esbuild', 'eslint', 'node'].includes(name))).toEqual([]);
  });
});

it('every dependency that package.json names is in the bundle', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(Object.keys(dependencies).filter((name) => !bundledNames.includes(name))).toEqual([]);
});
