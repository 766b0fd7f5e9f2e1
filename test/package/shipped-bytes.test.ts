import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartFolder } from '../planes/helm.ts';
import { rendered } from '../chart/rendered-chart.ts';
import { installedBesidesLockfile, unpinnedInDockerfile, unpinnedInLockfile } from './unpinned.ts';
import type { Lockfile } from './unpinned.ts';

const dockerfile = readFileSync('Dockerfile', 'utf8');
const lockfile = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lockfile;
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

describe('The package', () => {
  it('is built from packages with a hash in the lockfile', () => {
    expect(Object.keys(lockfile.packages).length).toBeGreaterThan(100);
    expect(unpinnedInLockfile(lockfile)).toEqual([]);
  });

  it('is built in a folder where npm and its install scripts installed only packages of the lockfile', () => {
    expect(installedBesidesLockfile(lockfile, process.cwd())).toEqual([]);
  });
});

describe('The image', () => {
  it('contains only bytes that a digest, the lockfile or the repository pins', () => {
    expect(unpinnedInDockerfile(dockerfile)).toEqual([]);
  });

  it('contains the Node.js of the lockfile, in one version for all platforms', () => {
    const versions = Object.keys(manifest.optionalDependencies).map((name) => {
      expect(name).toMatch(/^node-linux-(x64|arm64)$/);
      return lockfile.packages[`node_modules/${name}`]?.version;
    });
    expect(versions.length).toBeGreaterThan(1);
    expect(Object.values(manifest.optionalDependencies)).toEqual(versions);
    expect(new Set(versions).size).toBe(1);
  });
});

describe('The chart', () => {
  const values = join(chartFolder, 'ci');

  it('contains no other chart', () => {
    expect(parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8'))).not.toHaveProperty('dependencies');
    expect(readdirSync(chartFolder)).not.toContain('charts');
  });

  it.each(readdirSync(values))('runs only the image that image.digest pins: %s', async (file) => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const given = parse(readFileSync(join(values, file), 'utf8')) as { readonly image?: object } | null;
    const objects = await rendered({ ...given, image: { ...given?.image, digest } });
    const images = imagesIn(objects);
    expect(images).not.toEqual([]);
    expect(images.filter((image) => !image.endsWith(`tutti:0.1.0@${digest}`))).toEqual([]);
  });
});

/** Returns the images of all containers in a value. */
function imagesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'image' && typeof inner === 'string' ? [inner] : imagesIn(inner),
  );
}

describe('The check', () => {
  it.each([
    ['a base image without a digest', /^ARG BASE=.*$/m, 'ARG BASE=debian:13-slim', 'FROM ${BASE}'],
    ['a shortened digest', /(?<=^ARG BASE=.*@sha256:.{63}).$/m, '', 'FROM ${BASE}'],
    ['packages whose install scripts run', ' --ignore-scripts', '', 'RUN npm ci --no-audit --no-fund'],
    ['packages besides the lockfile', 'npm ci', 'npm install', /^RUN npm install /],
    ['a Debian package', '\nFROM ${BASE}', '\nRUN apt-get install curl\nFROM ${BASE}', 'RUN apt-get install curl'],
    ['a download', '\nCOPY . .', '\nADD https://example.com/node /\nCOPY . .', 'ADD https://example.com/node /'],
    ['a file of another image after a flag', '--from=build /usr', '--link --from=node:24 /usr', /^COPY --link /],
    ['another build program', /^/, '# syntax=docker/dockerfile:1\n', '# syntax=docker/dockerfile:1'],
    ['a file of another image', '--from=build /usr', '--from=node:24 /usr', /^COPY --from=node:24 /],
  ])('of the Dockerfile finds %s', (_what, found, replacement, problem) => {
    const changed = dockerfile.replace(found, replacement);
    expect(changed).not.toBe(dockerfile);
    expect(unpinnedInDockerfile(changed)).toEqual([
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    ]);
  });

  it('of the lockfile finds a package without a hash, and one with a weak hash', () => {
    const pinned = lockfile.packages['node_modules/ajv']!;
    const packages = { 'node_modules/a': pinned, 'node_modules/b': { version: '1.0.0' } };
    expect(unpinnedInLockfile({ packages: { '': {}, ...packages } })).toEqual(['node_modules/b']);
    expect(unpinnedInLockfile({ packages: { a: { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' } } })).toEqual(['a']);
  });

  it('of the installation finds packages that the lockfile does not contain, at any depth', () => {
    const root = mkdtempSync(join(tmpdir(), 'tutti-installed-'));
    try {
      const install = (folder: string, version: string): void => {
        mkdirSync(join(root, folder), { recursive: true });
        writeFileSync(join(root, folder, 'package.json'), JSON.stringify({ version }));
      };
      install('node_modules/a', '1.0.0');
      install('node_modules/a/node_modules/hidden', '1.0.0');
      install('node_modules/@scope/b', '2.0.0');
      const packages = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/@scope/b': { version: '1.0.0' } };
      expect(installedBesidesLockfile({ packages }, root)).toEqual([
        'node_modules/@scope/b',
        'node_modules/a/node_modules/hidden',
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
